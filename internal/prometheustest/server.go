// Package prometheustest runs a real Prometheus for tests.
package prometheustest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Server is the address of a running Prometheus, such as http://127.0.0.1:9090.
type Server string

// Start starts a Prometheus with the configuration, which is YAML, and further flags. It ends with the
// test, which logs what it printed if the test failed.
func Start(t *testing.T, configuration string, flags ...string) Server {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("no prometheus in PATH: install the Debian package prometheus, or run .ci/needs")
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	command := exec.Command(program, append([]string{"--config.file=" + file, "--web.listen-address=" + address,
		"--storage.tsdb.path=" + filepath.Join(folder, "data"), "--log.level=error"}, flags...)...)
	var printed strings.Builder
	command.Stdout, command.Stderr = &printed, &printed
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Log(printed.String())
		}
	})
	return Server("http://" + address)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Sample is the answer to a query for one series.
type Sample struct {
	Metric map[string]string
	Value  [2]any // time and value
}

// Query returns the answer to a query. An error says that the server does not answer yet, or what it refused.
func (s Server) Query(query string) ([]Sample, error) {
	answer, err := http.Get(string(s) + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", query, answer.Status, text)
	}
	var result struct{ Data struct{ Result []Sample } }
	err = json.Unmarshal(text, &result)
	return result.Data.Result, err
}
