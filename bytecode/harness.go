package bytecode

import (
	"fmt"
	"os"
	"path/filepath"

	"chronoscope/internal/classfile"
)

// An answer of the harness begins with headerLongs numbers: magicLong, and the count of all numbers
// including these two.
const (
	headerLongs = 2
	magicLong   = 0x4368726f6e6f7363
)

// harnessMain returns the harness, which reads commands until the end of standard input. A command
// consists of the name of a class, the number of numbers that the class has to fill, and the number of
// trials in a row. The harness runs the class and writes the numbers to standard output, in binary. Its
// arguments are the path of the library that reads the time stamp counter, and any text to start the
// counting thread; each is empty if it is not wanted.
func harnessMain() *classfile.Class {
	const arguments, in, out, length, name, buffer = 0, 1, 2, 3, 4, 5
	var code classfile.Code
	call := func(op classfile.Op, class, name, descriptor string) {
		code.Refer(op, classfile.Member{Class: class, Name: name, Descriptor: descriptor})
	}
	create := func(class string, argument func(), descriptor string) {
		code.Refer(classfile.New, classfile.ClassRef(class))
		code.Do(classfile.Dup)
		argument()
		call(classfile.Invokespecial, class, constructor, descriptor)
	}
	ifArgument := func(i int32, then func()) {
		code.Do(classfile.Aload, arguments)
		code.Int(i)
		code.Do(classfile.Aaload)
		call(classfile.Invokevirtual, "java/lang/String", "length", "()I")
		skip := code.Jump(classfile.Ifeq)
		then()
		code.Land(skip)
	}
	ifArgument(0, func() {
		code.Add("aload iconst_0 aaload", arguments)
		call(classfile.Invokestatic, "java/lang/System", "load", "(Ljava/lang/String;)V")
	})
	ifArgument(1, func() {
		create(countClass, func() {}, "()V")
		code.Add("dup iconst_1")
		call(classfile.Invokevirtual, threadClass, "setDaemon", "(Z)V")
		call(classfile.Invokevirtual, threadClass, "start", "()V")
	})
	create("java/io/DataInputStream", func() {
		code.Refer(classfile.Getstatic, classfile.Member{Class: "java/lang/System", Name: "in", Descriptor: "Ljava/io/InputStream;"})
	}, "(Ljava/io/InputStream;)V")
	code.Do(classfile.Astore, in)
	create("java/io/FileOutputStream", func() {
		code.Refer(classfile.Getstatic, classfile.Member{Class: "java/io/FileDescriptor", Name: "out", Descriptor: "Ljava/io/FileDescriptor;"})
	}, "(Ljava/io/FileDescriptor;)V")
	code.Do(classfile.Astore, out)

	loop := code.Here()
	code.Do(classfile.Aload, in)
	call(classfile.Invokevirtual, "java/io/DataInputStream", "readUTF", "()Ljava/lang/String;")
	code.Add("astore aload", name, in)
	call(classfile.Invokevirtual, "java/io/DataInputStream", "readInt", "()I")
	code.Add("dup istore newarray", length, longArray)
	code.Refer(classfile.Putstatic, outField)
	code.Do(classfile.Aload, in)
	call(classfile.Invokevirtual, "java/io/DataInputStream", "readInt", "()I")
	code.Refer(classfile.Putstatic, blockField)
	setOut := func(i int32, value func()) {
		code.Refer(classfile.Getstatic, outField)
		code.Int(i)
		value()
		code.Do(classfile.Lastore)
	}
	setOut(0, func() { code.Long(magicLong) })
	setOut(1, func() { code.Do(classfile.Iload, length); code.Do(classfile.I2l) })

	code.Do(classfile.Aload, name)
	call(classfile.Invokestatic, "java/lang/Class", "forName", "(Ljava/lang/String;)Ljava/lang/Class;")
	call(classfile.Invokevirtual, "java/lang/Class", "newInstance", "()Ljava/lang/Object;")
	code.Refer(classfile.Checkcast, classfile.ClassRef(runnableClass))
	call(classfile.Invokeinterface, runnableClass, "run", "()V")

	code.Do(classfile.Iload, length)
	code.Int(bytesALong)
	code.Do(classfile.Imul)
	call(classfile.Invokestatic, "java/nio/ByteBuffer", "allocate", "(I)Ljava/nio/ByteBuffer;")
	code.Add("astore aload", buffer, buffer)
	call(classfile.Invokevirtual, "java/nio/ByteBuffer", "asLongBuffer", "()Ljava/nio/LongBuffer;")
	code.Refer(classfile.Getstatic, outField)
	call(classfile.Invokevirtual, "java/nio/LongBuffer", "put", "([J)Ljava/nio/LongBuffer;")
	code.Add("pop aload aload", out, buffer)
	call(classfile.Invokevirtual, "java/nio/ByteBuffer", "array", "()[B")
	call(classfile.Invokevirtual, "java/io/FileOutputStream", "write", "([B)V")
	code.Do(classfile.GotoW, loop)

	c := newClass(harnessClass, objectClass)
	for _, f := range []struct {
		member classfile.Member
		access classfile.Access
	}{{outField, 0}, {blockField, 0}, {barrierField, classfile.Volatile}} {
		c.Fields = append(c.Fields, classfile.Field{Access: f.access | classfile.Public | classfile.Static, Name: f.member.Name, Descriptor: f.member.Descriptor})
	}
	addMethod(c, classfile.Static, "main", "([Ljava/lang/String;)V", code)
	return c
}

const (
	longArray  = 11 // newarray's code for long
	bytesALong = 8
)

// writeClasses generates all classes below a folder. Each set of timers has its own folder, because the
// classes of the sequences depend on the timers.
func writeClasses(folder string, all []*sequence, timers []timer) error {
	classes := []*classfile.Class{harnessMain(), countsClass(), cyclesClass(), edgesClass()}
	for _, s := range all {
		classes = append(classes, sequenceClass(s, timers))
	}
	if err := os.MkdirAll(filepath.Join(folder, "chronoscope"), 0o755); err != nil {
		return fmt.Errorf("a folder for generated classes: %w", err)
	}
	for _, c := range classes {
		data, err := c.Encode()
		if err != nil {
			return fmt.Errorf("the sequence can't be made, take a shorter one: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.FromSlash(c.Name)+".class"), data, 0o644); err != nil {
			return fmt.Errorf("keeping a generated class: %w", err)
		}
	}
	return nil
}
