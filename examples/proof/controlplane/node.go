package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

type node struct {
	client     kubernetes.Interface
	image, dir string

	mu   sync.Mutex
	pods map[string]*pod // by UID
}

func (n *node) running() []*pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.pods))
}

// named is the pod of a name that was last seen.
func (n *node) named(namespace, name string) *pod {
	for _, p := range n.running() {
		if p.spec.Namespace == namespace && p.spec.Name == name {
			return p
		}
	}
	return nil
}

// look takes every pod a step further: bound, started, reported, ended.
func (n *node) look(ctx context.Context) error {
	list, err := n.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	hosts, err := n.hosts(ctx, list.Items)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, item := range list.Items {
		uid := string(item.UID)
		seen[uid] = true
		n.mu.Lock()
		p := n.pods[uid]
		n.mu.Unlock()
		switch {
		case item.Spec.NodeName == "":
			if item.DeletionTimestamp == nil {
				err = n.bind(ctx, &item)
			}
		case p == nil && item.Status.Phase == corev1.PodPending:
			p = n.start(ctx, &item, hosts)
			n.mu.Lock()
			n.pods[uid] = p
			n.mu.Unlock()
			err = n.report(ctx, &item, p)
		case p != nil:
			p.name(hosts)
			if item.DeletionTimestamp != nil {
				p.end(item.DeletionTimestamp.Time)
			}
			err = n.report(ctx, &item, p)
		}
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			log.Printf("%s: %v", item.Name, err)
		}
	}
	for _, p := range n.running() {
		if uid := string(p.spec.UID); !seen[uid] {
			p.signal(syscall.SIGKILL)
			n.mu.Lock()
			delete(n.pods, uid)
			n.mu.Unlock()
		}
	}
	return nil
}

func (n *node) bind(ctx context.Context, item *corev1.Pod) error {
	return n.client.CoreV1().Pods(item.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: item.Name, UID: item.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}, metav1.CreateOptions{})
}

// hosts are the names of pods under headless services, all of which are here.
func (n *node) hosts(ctx context.Context, pods []corev1.Pod) (string, error) {
	services, err := n.client.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("127.0.0.1 localhost\n")
	for _, s := range services.Items {
		for _, p := range pods {
			if s.Spec.ClusterIP == corev1.ClusterIPNone && p.Namespace == s.Namespace && p.Spec.Subdomain == s.Name && selects(s.Spec.Selector, p.Labels) {
				name := p.Spec.Hostname + "." + s.Name
				fmt.Fprintf(&text, "127.0.0.1 %s %s.%s.svc.cluster.local\n", name, name, s.Namespace)
			}
		}
	}
	return text.String(), nil
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return len(selector) > 0
}

// report writes a pod's status where it has changed, and lets go of a pod that
// was deleted and has ended.
func (n *node) report(ctx context.Context, item *corev1.Pod, p *pod) error {
	status, ended := p.status()
	if p.reported != status.key() {
		item.Status.Phase = status.phase
		item.Status.ContainerStatuses = status.containers
		item.Status.HostIP, item.Status.PodIP = "127.0.0.1", "127.0.0.1"
		item.Status.HostIPs, item.Status.PodIPs = []corev1.HostIP{{IP: "127.0.0.1"}}, []corev1.PodIP{{IP: "127.0.0.1"}}
		item.Status.StartTime = &metav1.Time{Time: p.started}
		if _, err := n.client.CoreV1().Pods(item.Namespace).UpdateStatus(ctx, item, metav1.UpdateOptions{}); err != nil {
			return err
		}
		p.reported = status.key()
	}
	if ended && item.DeletionTimestamp != nil {
		now := int64(0)
		return n.client.CoreV1().Pods(item.Namespace).Delete(ctx, item.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &item.UID},
		})
	}
	return nil
}

// end asks a pod's processes to end, and makes them at the deadline.
func (p *pod) end(deadline time.Time) {
	if !p.ending {
		p.ending = true
		p.signal(syscall.SIGTERM)
	}
	if time.Now().After(deadline) {
		p.signal(syscall.SIGKILL)
	}
}
