package bytecode

import (
	"fmt"
	"strings"

	"chronoscope/internal/classfile"
)

// The names of the generated classes and of their shared members.
const (
	harnessClass  = "chronoscope/Harness"
	countClass    = "chronoscope/Count"
	cycleClass    = "chronoscope/Cycles"
	edgesName     = "chronoscope/Edges"
	cycleMethod   = "read"
	objectClass   = "java/lang/Object"
	threadClass   = "java/lang/Thread"
	runnableClass = "java/lang/Runnable"
	constructor   = "<init>"
	measureMethod = "measure" // of a sequence's class, executes the sequence
)

var (
	outField     = classfile.Member{Class: harnessClass, Name: "out", Descriptor: "[J"}
	blockField   = classfile.Member{Class: harnessClass, Name: "block", Descriptor: "I"}
	barrierField = classfile.Member{Class: harnessClass, Name: "barrier", Descriptor: "I"}
	countField   = classfile.Member{Class: countClass, Name: "now", Descriptor: "J"}
)

// className returns the name of a sequence's class.
func className(sequence string) string {
	return "chronoscope/T_" + strings.NewReplacer("/", "_", "-", "_").Replace(sequence)
}

// newClass returns a public class with a constructor that calls that of its super class.
func newClass(name, super string, interfaces ...string) *classfile.Class {
	var code classfile.Code
	code.Do(classfile.Aload0)
	code.Refer(classfile.Invokespecial, classfile.Member{Class: super, Name: constructor, Descriptor: "()V"})
	code.Do(classfile.Return)
	return &classfile.Class{
		Access: classfile.Public | classfile.Super, Name: name, Super: super, Interfaces: interfaces,
		Methods: []classfile.Method{{Access: classfile.Public, Name: constructor, Descriptor: "()V", Code: code}},
	}
}

func addMethod(c *classfile.Class, access classfile.Access, name, descriptor string, code classfile.Code) {
	c.Methods = append(c.Methods, classfile.Method{Access: access | classfile.Public, Name: name, Descriptor: descriptor, Code: code})
}

// cyclesClass returns the class that declares the native method that reads the time stamp counter.
func cyclesClass() *classfile.Class {
	c := newClass(cycleClass, objectClass)
	addMethod(c, classfile.Static|classfile.Native, cycleMethod, "()J", nil)
	return c
}

// countsClass returns the class of the counting thread. Padding fields keep its count on cache lines
// of its own.
func countsClass() *classfile.Class {
	c := newClass(countClass, threadClass)
	const padding = 16
	for i := range 2*padding + 1 {
		name := fmt.Sprintf("padding%d", i)
		if i == padding {
			name = countField.Name
		}
		c.Fields = append(c.Fields, classfile.Field{Access: classfile.Public | classfile.Static, Name: name, Descriptor: "J"})
	}
	var code classfile.Code
	code.Add("lconst_0 lstore_1")
	loop := code.Here()
	code.Add("lload_1 lconst_1 ladd dup2 lstore_1")
	code.Refer(classfile.Putstatic, countField)
	code.Do(classfile.Goto, loop)
	addMethod(c, 0, "run", "()V", code)
	return c
}

// edgesClass returns the class that waits for changes of currentTimeMillis. A row is the difference
// between two successive values, in milliseconds.
func edgesClass() *classfile.Class {
	const out, index, last, now = 1, 2, 3, 5
	var code classfile.Code
	code.Refer(classfile.Getstatic, outField)
	code.Do(classfile.Astore, out)
	code.Int(headerLongs)
	code.Do(classfile.Istore, index)
	milliTimer.read(&code)
	code.Do(classfile.Lstore, last)
	row := code.Here()
	milliTimer.read(&code)
	code.Add("dup2 lstore lload lcmp ifeq lload lload lsub lload lstore lstore", now, last, row, now, last, now, last, now)
	appendColumn(&code, out, index, now)
	untilFull(&code, out, index, row)
	code.Do(classfile.Return)
	c := newClass(edgesName, objectClass, runnableClass)
	addMethod(c, 0, "run", "()V", code)
	return c
}

// appendColumn appends code that stores a long variable as the next number of out.
func appendColumn(code *classfile.Code, out, index, variable int) {
	code.Add("aload iload lload lastore iinc", out, index, variable, index, 1)
}

// untilFull appends a jump back to the instruction to, which is taken while out has room.
func untilFull(code *classfile.Code, out, index, to int) {
	code.Add("iload aload arraylength", index, out)
	done := code.Jump(classfile.IfIcmpge)
	code.Do(classfile.GotoW, to)
	code.Land(done)
}

// The local variables of a sequence's method. Variables with lower numbers belong to the sequence.
const (
	localOut    = 8
	localBlock  = 9
	localTrials = 10
	localIndex  = 11
	localTimers = 12 // six for each timer, and two more if its ones are counted
)

// timerLocals are the variables of a timer, of two slots each.
type timerLocals struct{ start, end, sum, ones int }

func localsOf(i int) timerLocals {
	first := localTimers + 8*i
	return timerLocals{first, first + 2, first + 4, first + 6}
}

// sequenceClass returns the class that executes a sequence in blocks of trials. A trial pushes the
// operands, reads the timers before and after the sequence, and pops the results. A row holds the sums
// of a block.
func sequenceClass(s *sequence, timers []timer) *classfile.Class {
	var code classfile.Code
	code.Add("aload_0 astore iload_1 istore", localOut, localBlock)
	code.Int(headerLongs)
	code.Do(classfile.Istore, localIndex)
	s.initialise(&code)
	row := code.Here()
	clearSums(&code, timers)
	code.Add("iload istore", localBlock, localTrials)
	trial := code.Here()
	appendTrial(&code, s, timers)
	appendSums(&code, timers)
	code.Add("iinc iload", localTrials, -1, localTrials)
	done := code.Jump(classfile.Ifle)
	code.Do(classfile.GotoW, trial)
	code.Land(done)
	appendRow(&code, timers)
	untilFull(&code, localOut, localIndex, row)
	code.Do(classfile.Return)

	name := className(s.name)
	const method, descriptor = measureMethod, "([JI)V"
	var run classfile.Code
	run.Refer(classfile.Getstatic, outField)
	run.Refer(classfile.Getstatic, blockField)
	run.Refer(classfile.Invokestatic, classfile.Member{Class: name, Name: method, Descriptor: descriptor})
	run.Do(classfile.Return)

	c := newClass(name, objectClass, runnableClass)
	addMethod(c, 0, "run", "()V", run)
	addMethod(c, classfile.Static, method, descriptor, code)
	return c
}

func clearSums(code *classfile.Code, timers []timer) {
	for i, t := range timers {
		code.Add("lconst_0 lstore", localsOf(i).sum)
		if t.ones {
			code.Add("lconst_0 lstore", localsOf(i).ones)
		}
	}
}

// appendTrial appends one trial. The first timer is read first and last.
func appendTrial(code *classfile.Code, s *sequence, timers []timer) {
	s.pushAll(code)
	settle(code)
	for i, t := range timers {
		t.read(code)
		code.Do(classfile.Lstore, localsOf(i).start)
	}
	s.body(code)
	settle(code)
	for i := len(timers) - 1; i >= 0; i-- {
		timers[i].read(code)
		code.Do(classfile.Lstore, localsOf(i).end)
	}
	s.popAll(code)
}

// appendSums appends code that adds the trial's differences to the sums.
func appendSums(code *classfile.Code, timers []timer) {
	for i, t := range timers {
		at := localsOf(i)
		code.Add("lload lload lload lsub ladd lstore", at.sum, at.end, at.start, at.sum)
		if t.ones {
			code.Add("lload lload lload lcmp i2l ladd lstore", at.ones, at.end, at.start, at.ones)
		}
	}
}

func appendRow(code *classfile.Code, timers []timer) {
	for i, t := range timers {
		at := localsOf(i)
		appendColumn(code, localOut, localIndex, at.sum)
		appendColumn(code, localOut, localIndex, at.end)
		if t.ones {
			appendColumn(code, localOut, localIndex, at.ones)
		}
	}
}
