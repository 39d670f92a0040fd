// Command node is a node of a Kubernetes cluster for tests: it binds every pod
// to itself, runs the commands of its containers as processes of this machine,
// and answers for their logs and for kubectl exec.
//
//	node -kubeconfig FILE -image FOLDER -dir FOLDER -cert FILE -key FILE -address 127.0.0.1:10250
//
// Every image is the same folder, a copy of which is a pod's root (chroot). Its
// files belong to root and the commands run as another user, so that only the
// pod's volumes, which are all taken for an emptyDir, can be written. Names of
// pods under a headless service are in each pod's /etc/hosts.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const nodeName = "node"

func main() {
	var n node
	kubeconfig := flag.String("kubeconfig", "", "of the API server")
	flag.StringVar(&n.image, "image", "", "folder that is every image")
	flag.StringVar(&n.dir, "dir", "", "folder for the pods' roots and logs")
	address := flag.String("address", "127.0.0.1:10250", "where logs and exec are served")
	cert := flag.String("cert", "", "certificate of the address")
	key := flag.String("key", "", "its key")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	n.client, err = kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	if err := n.join(ctx, *address); err != nil {
		log.Fatal(err)
	}
	n.pods = map[string]*pod{}
	go func() { log.Fatal(n.serve(*address, *cert, *key)) }()
	for ctx.Err() == nil {
		if err := n.look(ctx); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	for _, p := range n.running() {
		p.signal(syscall.SIGKILL)
	}
}

// join makes the node known, so that the API server finds its address.
func (n *node) join(ctx context.Context, address string) error {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return err
	}
	made, err := n.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
	made.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	made.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}
