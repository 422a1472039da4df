package exporter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v2"
)

// webConfig is a copy of the last good version of a web configuration file and its certificates.
// exporter-toolkit reads its file at every request, and would answer none while the file is broken.
type webConfig struct {
	source string
	copy   *privateFile
	open   bool // it need not protect anything
}

// openWebConfig copies the file. open says that it need not protect anything. close removes the copy.
func openWebConfig(source string, open bool) (w webConfig, close func(), err error) {
	private, err := newPrivateFile()
	if err != nil {
		return w, nil, err
	}
	w = webConfig{source, private, open}
	if err := w.load(); err != nil {
		private.close()
		return w, nil, err
	}
	return w, private.close, nil
}

// file is the name of the copy.
func (w webConfig) file() string { return w.copy.name() }

// load replaces the copy if the file is good.
func (w webConfig) load() error {
	text, err := os.ReadFile(w.source)
	if err != nil {
		return err
	}
	if text, err = selfContained(text, filepath.Dir(w.source)); err == nil {
		if w.open || protects(text) { // an empty file is valid
			err = w.copy.replace(text, web.Validate)
		} else {
			err = fmt.Errorf("%w, though other machines can reach this address", errUnprotected)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.source, err)
	}
	return nil
}

// webSettings is a web configuration: the parts that this package changes, and the rest.
type webSettings struct {
	TLS   map[string]any         `yaml:"tls_server_config,omitempty"`
	Users map[string]string      `yaml:"basic_auth_users,omitempty"`
	Limit *web.RateLimiterConfig `yaml:"rate_limit,omitempty"`
	Rest  map[string]any         `yaml:",inline"`
}

var errUnprotected = errors.New("neither TLS nor users are configured")

// protects reports whether the connection is encrypted or clients have to authenticate. It is false for a file that
// can't be read as a web configuration.
func protects(text []byte) bool {
	var c web.Config
	return yaml.Unmarshal(text, &c) == nil && (c.TLSConfig.IsEnabled() || len(c.Users) > 0)
}

// inlined maps a setting that names a file to the setting that holds the file's content.
var inlined = map[string]string{"cert_file": "cert", "key_file": "key", "client_ca_file": "client_ca"}

// selfContained returns a web configuration in which the content of files replaces their names, which
// are relative to folder. It adds a rate limit if there are users and no limit, since checking a
// password takes long on the CPU.
func selfContained(text []byte, folder string) ([]byte, error) {
	var s webSettings
	if err := yaml.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	for file, content := range inlined {
		name, ok := s.TLS[file].(string)
		if !ok || name == "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		delete(s.TLS, file)
		s.TLS[content] = string(data)
	}
	if len(s.Users) > 0 && s.Limit == nil {
		s.Limit = &web.RateLimiterConfig{Interval: 500 * time.Millisecond, Burst: 10}
	}
	return yaml.Marshal(s)
}
