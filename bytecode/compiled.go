package bytecode

import (
	"regexp"
	"strings"
)

// compilations follows which sequences the compiler has compiled, from what -XX:+PrintCompilation prints.
type compilations struct {
	id   map[string]string // of the compiled code in use, by class
	gone map[string]string // why a class has none any more
}

// compilation matches a line about one compilation: its time, its number, flags, the method with its size, and what
// became of it. Compilations of a loop alone have @ after the method.
var compilation = regexp.MustCompile(`^\s*\d+\s+(\d+)\s.*?([\w./$]+)::\S+ (@ )?.*\((?:\d+ bytes|native)\)\s*(.*)$`)

// note reads a line, and reports whether it is about a compilation.
func (c *compilations) note(line string) bool {
	found := compilation.FindStringSubmatch(line)
	if found == nil {
		return false
	}
	id, class, loop, became := found[1], found[2], found[3] != "", strings.TrimSpace(found[4])
	switch {
	case loop || !strings.Contains(line, "::"+measureMethod+" "):
	case became == "":
		c.id[class] = id
		delete(c.gone, class)
	case c.id[class] == id: // it failed, or the code may no longer be entered
		delete(c.id, class)
		c.gone[class] = became
	}
	return true
}

// problem returns why a sequence has no compiled code; empty if it has.
func (c *compilations) problem(sequence string) string {
	class := strings.ReplaceAll(className(sequence), "/", ".")
	if c.id[class] != "" {
		return ""
	}
	if why := c.gone[class]; why != "" {
		return why
	}
	return "the virtual machine reported no compilation of it"
}
