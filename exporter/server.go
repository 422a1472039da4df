package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"
)

// Server answers scrapes.
type Server struct {
	// Address is the address to listen on.
	Address string
	// ConfigFile is a web configuration of Prometheus' exporter-toolkit, with TLS and basic authentication;
	// empty for none. It and its certificates are read at the start and at each Reload.
	ConfigFile string
	// Insecure allows other machines to read without TLS and authentication.
	Insecure bool
	Reload   <-chan os.Signal
	Log      *slog.Logger
}

// An InsecureError says that other machines could read the metrics without TLS and authentication.
type InsecureError struct{ Address string }

// Error says what was refused.
func (e *InsecureError) Error() string {
	return fmt.Sprintf("%s can be reached from other machines, and %v", e.Address, errUnprotected)
}

// Limits of a connection.
const (
	headerTimeout  = 5 * time.Second
	requestTimeout = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	mostHeader     = 16 << 10
	mostScrapes    = 4 // at the same time
	shutdownWithin = 2 * time.Second
)

// Listen opens the address, or says why not. The caller closes the listener, unless it calls Serve.
func (s Server) Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", s.Address)
	if err != nil {
		return nil, err
	}
	if isLoopback(l.Addr()) || s.protected() {
		return l, nil
	}
	if !s.Insecure {
		l.Close()
		return nil, &InsecureError{l.Addr().String()}
	}
	s.Log.Warn("other machines can read all metrics: neither TLS nor users are configured", "address", l.Addr().String())
	return l, nil
}

// protected reports whether TLS or users are configured. Serve refuses a file that can't be read.
func (s Server) protected() bool {
	text, err := os.ReadFile(s.ConfigFile)
	return err == nil && protects(text)
}

// Serve answers scrapes with what the registry gathers, until ctx ends. Until then GOMAXPROCS of this process is one
// higher.
func (s Server) Serve(ctx context.Context, l net.Listener, registry *client.Registry) error {
	defer l.Close()
	defer spareProcessor()()
	reloaded := client.NewGauge(client.GaugeOpts{Name: namespace + "config_last_reload_successful", Help: "1 if the last reload of the web configuration succeeded."})
	reloaded.Set(1)
	if err := registry.Register(reloaded); err != nil {
		return err
	}
	file := ""
	if s.ConfigFile != "" {
		config, remove, err := openWebConfig(s.ConfigFile, s.Insecure || isLoopback(l.Addr()))
		if err != nil {
			return fmt.Errorf("the web configuration: %w", err)
		}
		defer remove()
		file = config.file()
		go s.reloads(ctx, config, reloaded)
	}
	server := &http.Server{
		Handler: handler(registry, isLoopback(l.Addr())), ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	go func() {
		<-ctx.Done()
		stopping, cancel := context.WithTimeout(context.Background(), shutdownWithin)
		defer cancel()
		if server.Shutdown(stopping) != nil {
			server.Close()
		}
	}()
	err := web.Serve(limited(l), server, &web.FlagConfig{WebConfigFile: &file}, s.Log)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// reloads reads the web configuration again at each signal, until ctx ends.
func (s Server) reloads(ctx context.Context, config webConfig, successful client.Gauge) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Reload:
		}
		if err := config.load(); err != nil {
			successful.Set(0)
			s.Log.Error("the web configuration is broken, so the previous one stays in use: mend it and reload again", "reason", err)
			continue
		}
		successful.Set(1)
		s.Log.Info("the web configuration was reloaded")
	}
}

// spareProcessor lets one more thread run Go code, until restore is called. Turns and surveys hold up to one per CPU,
// and a scrape would wait some 10 ms for each of its goroutines until Go interrupts them.
func spareProcessor() (restore func()) {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1) }
}

// handler answers scrapes. If local, it refuses requests for other names than this machine's. It does not compress:
// that would save 8 kB of 10, and take a fifth of a scrape's CPU time.
func handler(registry *client.Registry, local bool) http.Handler {
	paths := http.NewServeMux()
	paths.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, DisableCompression: true, MaxRequestsInFlight: mostScrapes, Timeout: requestTimeout / 2,
	}))
	paths.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "healthy") })
	paths.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintln(w, `<!doctype html><title>Chronoscope</title><h1>Chronoscope</h1><p><a href="/metrics">Metrics</a></p>`)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !namesThisMachine(r.Host) {
			// DNS rebinding: a web page whose name resolves to this address
			http.Error(w, "this address answers requests for the names of this machine only", http.StatusMisdirectedRequest)
			return
		}
		paths.ServeHTTP(w, r)
	})
}

// namesThisMachine reports whether the Host of a request is an address, localhost, or the machine's
// own name.
func namesThisMachine(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	own, err := os.Hostname()
	return name == "localhost" || err == nil && name == strings.ToLower(own)
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
