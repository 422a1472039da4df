package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// aHistory returns a history with a series that becomes slower at its 30th record of 60, and one
// without a change.
func aHistory() record.History {
	d := record.History{Header: record.Header{Command: "history", Machine: &machine.Machine{}}, Store: "records", CommitURL: "https://example.com/commit/{commit}"}
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for i := range 60 {
		at := start.AddDate(0, 0, i)
		d.Records = append(d.Records, record.HistoryRecord{Name: fmt.Sprint(i), Started: at, Commit: fmt.Sprintf("%08x", 0xabc000+i), CommitTime: &at, Subject: fmt.Sprintf("subject %d", i)})
	}
	for _, name := range []string{"steady", "slower"} {
		s := record.HistorySeries{Topic: "benchmark", Name: name, Quantity: "time", Unit: "ns", Better: "lower", Tier: "Example CPU"}
		for i := range 60 {
			v := 100 + float64(i%3)
			if i >= 30 && name == "slower" {
				v += 30
			}
			s.Points = append(s.Points, record.HistoryPoint{Record: i, Value: v, Lo: stats.FloatOf(v - 2), Hi: stats.FloatOf(v + 2), Verdict: stats.Trusted})
		}
		level := func(first, last int, v float64) record.HistoryRegime {
			return record.HistoryRegime{First: first, Last: last, Level: stats.Estimate{Value: v, Lo: v, Hi: v, Unit: "ns"}}
		}
		if name == "slower" {
			s.Regimes = []record.HistoryRegime{level(0, 29, 101), level(30, 59, 131)}
			s.Changes = []record.HistoryChange{{At: 30, First: 30, Last: 30, Change: stats.Estimate{Value: 1.3, Lo: 1.29, Hi: 1.31, Unit: "ratio"}, PValue: 1e-9, Outcome: "slower"}}
		} else {
			s.Regimes = []record.HistoryRegime{level(0, 59, 101)}
		}
		d.Series = append(d.Series, s)
	}
	return d
}

// until waits for an expression to become true: charts are drawn when they become visible.
func (p *tab) until(expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !value[bool](p, expression); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s is never true", expression)
		}
	}
}

// The charts of a history are drawn, zoom together, describe a change under the mouse, and can be
// selected by name; links lead to commits, and a phone shows everything.
func TestTrendsInBrowser(t *testing.T) {
	ctx := browser(t)
	for _, width := range []int64{1100, 360} {
		p := show(t, ctx, width, aHistory())
		p.do(chromedp.ScrollIntoView(".trend:nth-child(2) canvas"))
		p.until(`[...document.querySelectorAll(".trend canvas")].every((c) => c.width > 250 && c.toDataURL().length > 5000)`)
		if wide := value[float64](p, `document.documentElement.scrollWidth`); wide > float64(width) {
			t.Errorf("a page of %d is %v wide", width, wide)
		}
		p.silent()
	}

	p := show(t, ctx, 1100, aHistory())
	p.do(chromedp.ScrollIntoView(".trend:nth-child(2) canvas"))
	p.until(`document.querySelectorAll(".trend")[1].seen === true`)
	if links := value[[]string](p, `[...document.querySelectorAll("td a")].map((a) => a.href)`); len(links) != 1 || links[0] != "https://example.com/commit/00abc01e" {
		t.Errorf("links: %q", links)
	}
	hostile := aHistory()
	hostile.CommitURL = "javascript:alert(1)//{commit}"
	if page := pageOf(t, hostile); strings.Contains(page, `href="javascript`) {
		t.Error("a link runs a script")
	}
	box := value[struct{ X, Y, Width float64 }](p, `document.querySelectorAll(".trend canvas")[1].getBoundingClientRect().toJSON()`)
	const left = 58 // left edge of the chart's frame
	at := func(place float64) float64 { return box.X + left + (place+0.5)/60*(box.Width-left) }
	tip := func() string {
		return value[string](p, `document.querySelector(".tip:not([hidden])")?.textContent ?? ""`)
	}
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, at(29.5), box.Y+40))
	if got := tip(); !strings.Contains(got, "slower by +30 %") || !strings.Contains(got, "00abc01d subject 29") || !strings.Contains(got, "00abc01e subject 30") {
		t.Errorf("at the change: %q", got)
	}
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, at(10), box.Y+40))
	if got := tip(); !strings.Contains(got, "101 ns (99") || !strings.Contains(got, "subject 10") {
		t.Errorf("at the 11th record: %q", got)
	}
	p.do(chromedp.DragAndDropXY(at(14.5), box.Y+40, at(44.5), box.Y+40))
	if got := value[shownView](p, `(({ from, to }) => ({ from: +from, to: +to }))(document.querySelector(".trends").dataset)`); got.From < 13 || got.From > 16 || got.To < 43 || got.To > 46 {
		t.Errorf("dragged to %v", got)
	}
	p.do(chromedp.Click(`.trends [data-do="all"]`), chromedp.Click(`.trends [data-do="changed"]`))
	if shown := value[string](p, `[...document.querySelectorAll(".trend:not([hidden]) h3")].map((e) => e.textContent).join()`); shown != "slower" {
		t.Errorf("with changes: %q", shown)
	}
	p.do(chromedp.Click(`.trends [data-do="changed"]`), chromedp.Focus(".trends input"), chromedp.KeyEvent("stea"))
	if shown := value[string](p, `[...document.querySelectorAll(".trend:not([hidden]) h3")].map((e) => e.textContent).join()`); shown != "steady" {
		t.Errorf("named so: %q", shown)
	}
	p.silent()
}
