package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type pod struct {
	spec     *corev1.Pod
	root     string
	started  time.Time
	ending   bool
	reported string
	named    string // what /etc/hosts says

	containers []*container
}

type container struct {
	spec corev1.Container
	env  []string
	log  string

	mu      sync.Mutex
	cmd     *exec.Cmd
	state   corev1.ContainerState
	started time.Time
}

// start makes the pod's root and starts its containers. One that cannot be
// started has ended with 128, as under a kubelet.
func (n *node) start(ctx context.Context, item *corev1.Pod, hosts string) *pod {
	p := &pod{spec: item, root: filepath.Join(n.dir, string(item.UID)), started: time.Now()}
	err := p.makeRoot(n.image)
	p.name(hosts)
	for _, spec := range item.Spec.Containers {
		c := &container{spec: spec, log: filepath.Join(n.dir, string(item.UID)+"."+spec.Name+".log"), started: time.Now()}
		p.containers = append(p.containers, c)
		if err == nil {
			c.env, err = n.environment(ctx, item, spec)
		}
		if err == nil {
			err = c.start(p)
		}
		if err != nil {
			c.ended(128, err.Error())
		}
	}
	return p
}

func (p *pod) makeRoot(image string) error {
	if out, err := exec.Command("cp", "-a", image, p.root).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, out)
	}
	for _, c := range p.spec.Spec.Containers {
		for _, m := range c.VolumeMounts {
			dir := filepath.Join(p.root, m.MountPath)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
				return err
			}
		}
	}
	return nil
}

// name writes the pod's /etc/hosts.
func (p *pod) name(hosts string) {
	if p.named != hosts {
		_ = os.WriteFile(filepath.Join(p.root, "etc", "hosts"), []byte(hosts), 0o644)
		p.named = hosts
	}
}

// inside is a command in the pod's root, with /proc and /sys to see there, and
// as the user that the pod says. It keeps its process: the pid is the command's.
func (p *pod) inside(env, command []string) *exec.Cmd {
	user := "0:0"
	if s := p.spec.Spec.SecurityContext; s != nil && s.RunAsUser != nil && s.RunAsGroup != nil {
		user = fmt.Sprintf("%d:%d", *s.RunAsUser, *s.RunAsGroup)
	}
	const script = `mount --bind /proc "$1/proc" && mount --rbind /sys "$1/sys" && mount --bind /dev "$1/dev" &&
		root=$1 user=$2 && shift 2 && exec env -i "PATH=$PATH" chroot --userspec="$user" "$root" env "$@"`
	args := append([]string{"--mount", "--propagation", "private", "sh", "-c", script, "sh", p.root, user}, env...)
	cmd := exec.Command("unshare", append(args, command...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (c *container) start(p *pod) error {
	log, err := os.Create(c.log)
	if err != nil {
		return err
	}
	defer log.Close()
	c.cmd = p.inside(c.env, append(c.spec.Command, c.spec.Args...))
	c.cmd.Stdout, c.cmd.Stderr = log, log
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: c.started}}}
	go func() {
		err := c.cmd.Wait()
		code := c.cmd.ProcessState.ExitCode()
		if w, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			code = 128 + int(w.Signal())
		}
		message := ""
		if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
			message = err.Error()
		}
		c.ended(code, message)
	}()
	return nil
}

func (c *container) ended(code int, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	c.state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(code), Reason: reason, Message: message,
		StartedAt: metav1.Time{Time: c.started}, FinishedAt: metav1.Now(),
	}}
}

// signal sends a signal to the first process of each container that runs, or,
// where it cannot be refused, to all of them.
func (p *pod) signal(s syscall.Signal) {
	for _, c := range p.containers {
		c.mu.Lock()
		if c.state.Running != nil {
			pid := c.cmd.Process.Pid
			if s == syscall.SIGKILL {
				pid = -pid
			}
			_ = syscall.Kill(pid, s)
		}
		c.mu.Unlock()
	}
}

type podStatus struct {
	phase      corev1.PodPhase
	containers []corev1.ContainerStatus
}

// key is the same for the same status.
func (s podStatus) key() string {
	text, _ := json.Marshal(s.containers)
	return string(s.phase) + string(text)
}

// status is the pod's, and whether all its containers have ended.
func (p *pod) status() (s podStatus, ended bool) {
	ended = true
	s.phase = corev1.PodSucceeded
	for _, c := range p.containers {
		c.mu.Lock()
		cs := corev1.ContainerStatus{Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image, State: c.state, Ready: c.state.Running != nil}
		c.mu.Unlock()
		if t := cs.State.Terminated; t == nil {
			ended = false
		} else if t.ExitCode != 0 {
			s.phase = corev1.PodFailed
		}
		s.containers = append(s.containers, cs)
	}
	if !ended {
		s.phase = corev1.PodRunning
	}
	return s, ended
}

var metadataField = regexp.MustCompile(`^metadata\.(annotations|labels)\['([^']+)'\]$`)

// environment is what a container's env and envFrom come to.
func (n *node) environment(ctx context.Context, item *corev1.Pod, c corev1.Container) (env []string, err error) {
	core := n.client.CoreV1()
	for _, from := range c.EnvFrom {
		if ref := from.ConfigMapRef; ref != nil {
			m, err := core.ConfigMaps(item.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			for k, v := range m.Data {
				env = append(env, k+"="+v)
			}
		}
		if ref := from.SecretRef; ref != nil {
			m, err := core.Secrets(item.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			for k, v := range m.Data {
				env = append(env, k+"="+string(v))
			}
		}
	}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			if e.ValueFrom.FieldRef == nil {
				return nil, fmt.Errorf("env %s: this node knows fieldRef alone", e.Name)
			}
			field := metadataField.FindStringSubmatch(e.ValueFrom.FieldRef.FieldPath)
			if field == nil {
				return nil, fmt.Errorf("env %s: this node does not know %s", e.Name, e.ValueFrom.FieldRef.FieldPath)
			}
			value = map[string]map[string]string{"annotations": item.Annotations, "labels": item.Labels}[field[1]][field[2]]
		}
		env = append(env, e.Name+"="+value)
	}
	return env, nil
}
