package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// serve answers what the API server asks a kubelet for.
func (n *node) serve(address, cert, key string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.logs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", n.exec)
	s := http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return s.ListenAndServeTLS(cert, key)
}

// logs are a container's whole output so far.
func (n *node) logs(w http.ResponseWriter, r *http.Request) {
	c := n.container(r)
	if c == nil {
		http.NotFound(w, r)
		return
	}
	f, err := os.Open(c.log)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	_, _ = io.Copy(w, f)
}

func (n *node) container(r *http.Request) *container {
	if p := n.named(r.PathValue("namespace"), r.PathValue("pod")); p != nil {
		for _, c := range p.containers {
			if c.spec.Name == r.PathValue("container") {
				return c
			}
		}
	}
	return nil
}

func (n *node) exec(w http.ResponseWriter, r *http.Request) {
	c := n.container(r)
	if c == nil {
		http.NotFound(w, r)
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in := executor{n.named(r.PathValue("namespace"), r.PathValue("pod")), c}
	remotecommand.ServeExec(w, r, in, in.p.spec.Name, "", c.spec.Name, r.URL.Query()["command"], options,
		time.Minute, 10*time.Second, remotecommand.SupportedStreamingProtocols)
}

type executor struct {
	p *pod
	c *container
}

// ExecInContainer implements [remotecommand.Executor].
func (e executor) ExecInContainer(_ context.Context, _, _, _ string, command []string, in io.Reader, out, err io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	cmd := e.p.inside(e.c.env, command)
	cmd.Stdin, cmd.Stdout = in, out
	if err != nil {
		cmd.Stderr = err
	}
	failed := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(failed, &exit) {
		return utilexec.CodeExitError{Err: failed, Code: exit.ExitCode()}
	}
	return failed
}
