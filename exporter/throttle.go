package exporter

import (
	"context"
	"net"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"
)

const (
	mostConnections = 64
	// readsPerSecond limits the CPU time that many requests can cost: a scrape takes two or three reads, a TLS
	// handshake some more. readsAtOnce is the number of reads that may come in a burst.
	readsPerSecond = 40
	readsAtOnce    = 200
)

// limited limits the number of a listener's connections, and the rate of reads from all of them,
// before a client can cost CPU time.
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

// Read waits after it has read. So an idle connection does not use up any of the rate.
func (c throttledConn) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	if n > 0 {
		_ = c.reads.Wait(context.Background()) // it fails only if its context ends
	}
	return n, err
}
