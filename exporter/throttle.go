package exporter

import (
	"context"
	"net"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"
)

const (
	mostConnections = 64
	// readsPerSecond bounds what a storm of requests can make the process work: a scrape takes two or
	// three reads, a TLS handshake some more. readsAtOnce may come at once.
	readsPerSecond = 40
	readsAtOnce    = 200
)

// limited bounds the connections of a listener, and how often all of them are read from, before
// anything that costs CPU time is done for a client.
func limited(l net.Listener) net.Listener {
	return throttledListener{netutil.LimitListener(l, mostConnections), rate.NewLimiter(readsPerSecond, readsAtOnce)}
}

type throttledListener struct {
	net.Listener
	reads *rate.Limiter
}

func (l throttledListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return throttledConn{c, l.reads}, nil
}

type throttledConn struct {
	net.Conn
	reads *rate.Limiter
}

// Read waits after it has read: a connection on which nothing comes takes no turn.
func (c throttledConn) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	if n > 0 {
		_ = c.reads.Wait(context.Background()) // its only error is that of the context
	}
	return n, err
}
