package bytecode

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"chronoscope/internal/classfile"
)

// interpreter executes code according to section 6.5 of the JVM specification, and checks the types of
// all values. It does not use the catalogue.
type interpreter struct {
	stack  []cell
	locals [16]cell
	jumps  int // number of branches that were taken
	stays  int // number of branches that were not taken
}

// cell is a slot of the stack. The upper slot of a long or double has the kind '2'.
type cell struct {
	kind byte
	n    int64
	x    float64
}

func (m *interpreter) push(kind byte, n int64, x float64) {
	m.stack = append(m.stack, cell{kind, n, x})
	if kind == 'l' || kind == 'd' {
		m.stack = append(m.stack, cell{kind: '2'})
	}
}

func (m *interpreter) slot() cell {
	if len(m.stack) == 0 {
		panic("the stack is empty")
	}
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top
}

func (m *interpreter) pop(kind byte) cell {
	if kind == 'l' || kind == 'd' {
		if upper := m.slot(); upper.kind != '2' {
			panic(fmt.Sprintf("%c is on top, where %c should be", upper.kind, kind))
		}
	}
	c := m.slot()
	if c.kind != kind {
		panic(fmt.Sprintf("%c is on top, where %c should be", c.kind, kind))
	}
	return c
}

// popSlot pops a value of one slot.
func (m *interpreter) popSlot() cell {
	c := m.slot()
	if c.kind == '2' {
		panic("half of a long or double is moved")
	}
	return c
}

func (m *interpreter) store(local int, c cell) {
	m.locals[local] = c
	if c.kind == 'l' || c.kind == 'd' {
		m.locals[local+1] = cell{kind: '2'}
	}
}

func (m *interpreter) load(local int, kind byte) {
	c := m.locals[local]
	if c.kind != kind || (kind == 'l' || kind == 'd') && m.locals[local+1].kind != '2' {
		panic(fmt.Sprintf("variable %d is %q, where %c should be", local, c.kind, kind))
	}
	m.push(kind, c.n, c.x)
}

// run executes code from its first instruction to its last.
func (m *interpreter) run(code []classfile.Instruction) {
	for at := 0; at < len(code); {
		next := m.step(code[at], at)
		if next <= at {
			panic("it goes back")
		}
		at = next
	}
}

// step executes an instruction, and returns the index of the next.
func (m *interpreter) step(in classfile.Instruction, at int) (next int) {
	name, suffix, _ := strings.Cut(in.Op.String(), "_")
	next = at + 1
	local := in.Arg
	if len(suffix) == 1 && suffix[0] >= '0' && suffix[0] <= '9' {
		local = int(suffix[0] - '0')
	}
	switch {
	case in.Op == classfile.Nop:
	case in.Op == classfile.AconstNull:
		m.push('a', 0, 0)
	case strings.HasSuffix(name, "const"):
		if suffix == "m1" {
			local = -1
		}
		m.push(name[0], int64(local), float64(local))
	case in.Op == classfile.Bipush, in.Op == classfile.Sipush:
		m.push('i', int64(in.Arg), 0)
	case in.Op == classfile.LdcW:
		m.push('f', 0, float64(in.Ref.(float32)))
	case in.Op == classfile.Ldc2W:
		m.push('d', 0, in.Ref.(float64))
	case strings.HasSuffix(name, "load"):
		m.load(local, name[0])
	case strings.HasSuffix(name, "store"):
		m.store(local, m.pop(name[0]))
	case in.Op == classfile.Iinc:
		m.load(in.Arg, 'i')
		m.store(in.Arg, cell{'i', m.pop('i').n + int64(in.Increment), 0})
	case in.Op >= classfile.Pop && in.Op <= classfile.Swap:
		m.move(in.Op)
	case in.Op >= classfile.I2l && in.Op <= classfile.I2s:
		m.convert(name)
	case strings.Contains(name, "cmp") && name != "if":
		m.compare(name)
	case in.Op == classfile.Goto:
		m.jumps++
		return in.Arg
	case name == "if" || strings.HasPrefix(name, "if") && len(name) == 4:
		return m.branch(in, at)
	default:
		m.compute(name)
	}
	return next
}

// move executes an instruction that moves slots of any type: the table of forms in the specification.
func (m *interpreter) move(op classfile.Op) {
	switch op {
	case classfile.Pop:
		m.popSlot()
		return
	case classfile.Pop2: // two values of one slot, or one value of two slots
		if upper := m.slot(); upper.kind == '2' {
			m.slot()
		} else {
			m.popSlot()
		}
		return
	}
	shape := map[classfile.Op]struct{ takes, leaves string }{
		classfile.Dup: {"1", "11"}, classfile.DupX1: {"21", "121"}, classfile.DupX2: {"321", "1321"},
		classfile.Dup2: {"21", "2121"}, classfile.Dup2X1: {"321", "21321"}, classfile.Dup2X2: {"4321", "214321"},
		classfile.Swap: {"21", "12"},
	}[op]
	taken := map[byte]cell{}
	for i := len(shape.takes) - 1; i >= 0; i-- {
		taken[shape.takes[i]] = m.popSlot()
	}
	for i := range shape.leaves {
		m.stack = append(m.stack, taken[shape.leaves[i]])
	}
}

func (m *interpreter) convert(name string) {
	from := m.pop(name[0])
	n, x := from.n, from.x
	if name[0] == 'i' || name[0] == 'l' {
		x = float64(n)
	} else {
		n = int64(x)
	}
	switch name[2] {
	case 'b':
		m.push('i', int64(int8(n)), 0)
	case 'c':
		m.push('i', int64(uint16(n)), 0)
	case 's':
		m.push('i', int64(int16(n)), 0)
	default:
		m.push(name[2], n, x)
	}
}

func (m *interpreter) compare(name string) {
	b, a := m.pop(name[0]), m.pop(name[0])
	difference := a.x - b.x
	if name[0] == 'l' {
		difference = float64(a.n - b.n)
	}
	m.push('i', int64(sign(difference)), 0)
}

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

func (m *interpreter) branch(in classfile.Instruction, at int) int {
	name := in.Op.String()
	difference := m.pop('i').n
	if strings.HasPrefix(name, "if_icmp") {
		difference = m.pop('i').n - difference
	}
	taken := map[string]bool{
		"eq": difference == 0, "ne": difference != 0, "lt": difference < 0,
		"ge": difference >= 0, "gt": difference > 0, "le": difference <= 0,
	}[name[len(name)-2:]]
	if taken {
		m.jumps++
		return in.Arg
	}
	m.stays++
	return at + 1
}

func (m *interpreter) compute(name string) {
	kind, operation := name[0], name[1:]
	if operation == "neg" {
		a := m.pop(kind)
		m.push(kind, -a.n, -a.x)
		return
	}
	second := kind
	if strings.Contains(operation, "sh") {
		second = 'i'
	}
	b, a := m.pop(second), m.pop(kind)
	var n int64
	var x float64
	switch operation {
	case "add":
		n, x = a.n+b.n, a.x+b.x
	case "sub":
		n, x = a.n-b.n, a.x-b.x
	case "mul":
		n, x = a.n*b.n, a.x*b.x
	case "div", "rem":
		if kind == 'i' || kind == 'l' {
			if b.n == 0 {
				panic("division by zero")
			}
			n = a.n / b.n
			if operation == "rem" {
				n = a.n % b.n
			}
		} else if x = a.x / b.x; operation == "rem" {
			x = math.Mod(a.x, b.x)
		}
	case "shl":
		n = a.n << (b.n & 31)
	case "shr", "ushr":
		n = a.n >> (b.n & 31)
	case "and":
		n = a.n & b.n
	case "or":
		n = a.n | b.n
	case "xor":
		n = a.n ^ b.n
	default:
		panic(name + " is not known")
	}
	if kind == 'i' {
		n = int64(int32(n))
	}
	if kind == 'i' || kind == 'l' {
		x = 0
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || x != 0 && math.Abs(x) < 1e-30 {
		panic(fmt.Sprintf("%s of %g and %g is %g", name, a.x, b.x, x))
	}
	m.push(kind, n, x)
}

// Every sequence runs, in all its forms and in several lengths, with operands of the required types,
// and leaves the stack as it was. Branches are taken exactly where they should be.
func TestSequencesByInterpreter(t *testing.T) {
	for _, length := range []int{1, 2, 3, 1000} {
		all, err := sequences(Catalogue(), true, length)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			m, err := interpret(s)
			if err != nil {
				t.Errorf("%s, %d: %v", s.name, length, err)
				continue
			}
			jumps, stays := 0, 0
			switch {
			case strings.HasSuffix(s.name, "/taken") || s.name == "goto":
				jumps = length
			case strings.HasSuffix(s.name, "/not-taken"):
				stays = length
			}
			if m.jumps != jumps || m.stays != stays || len(m.stack) != 0 {
				t.Errorf("%s, %d: %d branches were taken and %d not, want %d and %d; %d slots are left", s.name, length, m.jumps, m.stays, jumps, stays, len(m.stack))
			}
		}
	}
}

// interpret executes the code that pushes the operands, the sequence, and the code that pops the results.
func interpret(s *sequence) (m *interpreter, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	m = &interpreter{}
	for _, part := range []func(*classfile.Code){s.initialise, s.pushAll, s.body, s.popAll} {
		var code classfile.Code
		part(&code)
		m.run(code)
	}
	return m, nil
}
