package tracepoint

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// format holds the contents of an event's file "format" in tracefs.
type format struct {
	id     uint16
	fields map[string]field
	names  map[int64]string // the words for values, from the line "print fmt"
}

// field is the position of a value in an event's record, in bytes.
type field struct{ offset, size int }

// mostEventBytes bounds the places of fields: perf's records are shorter than 64 KiB.
const mostEventBytes = 1 << 16

var (
	fieldLine = regexp.MustCompile(`^\s*field:([^;]+);\s*offset:(\d+);\s*size:(\d+);`)
	fieldName = regexp.MustCompile(`(\w+)(\[[^\]]*\])*\s*$`)
	valueName = regexp.MustCompile(`\{ *(0[xX][0-9a-fA-F]+|\d+), *"([^"]*)" *\}`)
)

func parseFormat(text string) (format, error) {
	f := format{fields: map[string]field{}, names: map[int64]string{}}
	known := false
	for line := range strings.Lines(text) {
		if number, ok := strings.CutPrefix(line, "ID:"); ok {
			id, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16)
			if err != nil {
				return f, fmt.Errorf("its number is %.40q", number)
			}
			f.id, known = uint16(id), true
		}
		if print, ok := strings.CutPrefix(line, "print fmt:"); ok {
			for _, match := range valueName.FindAllStringSubmatch(print, -1) {
				if value, err := strconv.ParseInt(match[1], 0, 32); err == nil {
					f.names[value] = match[2]
				}
			}
		}
		match := fieldLine.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		name := fieldName.FindStringSubmatch(match[1])
		offset, err1 := strconv.Atoi(match[2])
		size, err2 := strconv.Atoi(match[3])
		if name == nil || err1 != nil || err2 != nil || offset > mostEventBytes || size > mostEventBytes {
			return f, fmt.Errorf("it has the field %.80q", strings.TrimSpace(line))
		}
		f.fields[name[1]] = field{offset, size}
	}
	if !known {
		return f, fmt.Errorf("it states no number")
	}
	return f, nil
}

// number reads an integer. It returns false if the event is too short, or if the field does not
// have 1, 2, 4 or 8 bytes.
func (f field) number(raw []byte) (int64, bool) {
	if f.offset+f.size > len(raw) {
		return 0, false
	}
	order, at := binary.NativeEndian, raw[f.offset:]
	switch f.size {
	case 1:
		return int64(at[0]), true
	case 2:
		return int64(order.Uint16(at)), true
	case 4:
		return int64(int32(order.Uint32(at))), true
	case 8:
		return int64(order.Uint64(at)), true
	}
	return 0, false
}

// bytes returns a text of fixed length, up to its first zero byte.
func (f field) bytes(raw []byte) []byte {
	if f.offset+f.size > len(raw) {
		return nil
	}
	return untilNUL(raw[f.offset : f.offset+f.size])
}

// located returns a text whose offset and length the field holds (__data_loc).
func (f field) located(raw []byte) []byte {
	place, ok := f.number(raw)
	offset, size := int(place&0xffff), int(place>>16&0xffff)
	if !ok || offset+size > len(raw) {
		return nil
	}
	return untilNUL(raw[offset : offset+size])
}

func untilNUL(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}
