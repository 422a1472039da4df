package render

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"chronoscope/activity"
	"chronoscope/record"
)

// browserNames are Chromium's names on different systems.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// patience is the time limit for a browser on a busy machine.
const patience = 90 * time.Second

// browser starts a browser; each test opens a tab of its own in it.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	var path string
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skipf("no browser called %s is installed; make needs installs one", strings.Join(browserNames, ", "))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	// The test's own context ends before its cleanup. It would kill the browser, which would then
	// leave files behind.
	ctx, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil { // starts the browser
		t.Fatal(err)
	}
	t.Cleanup(func() {
		soon, stop := context.WithTimeout(ctx, patience)
		defer stop()
		if err := chromedp.Cancel(soon); err != nil {
			t.Errorf("closing the browser: %v", err)
		}
	})
	return ctx
}

// tab shows a page, and records the browser's messages about it.
type tab struct {
	t       *testing.T
	ctx     context.Context
	console iter.Seq2[chromedp.ConsoleMessage, error]
}

// show opens the page of some documents.
func show(t *testing.T, ctx context.Context, width int64, documents ...record.Document) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(pageOf(t, documents...)), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // opens the tab without the time limit of what follows
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx, console: chromedp.Console(ctx)}
	p.do(chromedp.EmulateViewport(width, 800), chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()))
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// value returns the value of a JavaScript expression.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// silent checks that the console is empty, to which errors and violations of the page's policy are
// written.
func (p *tab) silent() {
	p.t.Helper()
	const last = "that was all"
	value[chromedp.Void](p, fmt.Sprintf("console.log(%q)", last))
	for m, err := range p.console {
		if err != nil {
			p.t.Fatal(err)
		}
		if m.Text == last {
			return
		}
		p.t.Errorf("the browser says: %s", m.Text)
	}
}

func TestPageInBrowser(t *testing.T) {
	ctx := browser(t)
	all := append(documentsOfEachKind(t), record.Activity{Traces: []activity.Analysis{aTrace(2000)}})
	for _, c := range []struct {
		name string
		test func(*testing.T, context.Context, []record.Document)
	}{
		{"figures have a size", figuresHaveSize}, {"narrow", fitsNarrowScreen}, {"dark", isReadableInDark},
		{"hostile", hostileTextDoesNothing}, {"zoom", canBeZoomed}, {"no gaps", isDrawnWithoutGaps}, {"data", dataOneClickAway},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, ctx, all) })
	}
}

// sizesOf is an expression for the names and sizes of the elements that a selector finds.
const sizesOf = `[...document.querySelectorAll(%q)].map((e) => ({
	name: e.getAttribute("aria-label") || e.id || e.className, width: e.getBoundingClientRect().width, height: e.getBoundingClientRect().height }))`

type sized struct {
	Name          string
	Width, Height float64
}

// Every figure is drawn as wide as its place, and no canvas is empty.
func figuresHaveSize(t *testing.T, ctx context.Context, all []record.Document) {
	p := show(t, ctx, 1100, all...)
	figures := value[[]sized](p, fmt.Sprintf(sizesOf, "figure svg[role=img], figure canvas"))
	if len(figures) < 15 {
		t.Errorf("only %d figures", len(figures))
	}
	for _, f := range figures {
		if f.Width < 300 || f.Height < 60 {
			t.Errorf("%s is %v by %v", f.Name, f.Width, f.Height)
		}
	}
	if n := value[int](p, `document.querySelectorAll("figure .mark, figure rect").length`); n < 100 {
		t.Errorf("only %d marks", n)
	}
	painted := value[int](p, `(() => { const c = document.querySelector("canvas");
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n; })()`)
	if painted < 5000 {
		t.Errorf("%d points of the picture are painted", painted)
	}
	p.silent()
}

// On a phone only tables, in their own frames, are wider than the screen, and no text of a figure
// extends beyond it.
func fitsNarrowScreen(t *testing.T, ctx context.Context, all []record.Document) {
	p := show(t, ctx, 360, append(all, hostileDocuments()...)...)
	if width := value[float64](p, `document.documentElement.scrollWidth`); width > 360 {
		t.Errorf("the page is %v wide", width)
	}
	wide := value[[]string](p, `[...document.querySelectorAll("body *")].filter((e) => {
		const r = e.getBoundingClientRect();
		return r.width > 0 && (r.right > 361 || r.left < -1) && !e.closest(".scroll, .defs") && !e.classList.contains("mark") }).map((e) => e.tagName + ": " + e.textContent.slice(0, 60))`)
	for _, name := range wide[:min(len(wide), 5)] {
		t.Errorf("beyond the edge: %s", name)
	}
	small := value[int](p, `[...document.querySelectorAll("p, td, li, text, a, button")].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 12).length`)
	if small > 0 {
		t.Errorf("%d texts are too small to read", small)
	}
	for _, label := range value[[]string](p, badLabels) {
		t.Errorf("the name of the column %q overlaps its value, or stands beside none", label)
	}
	p.silent()
}

// badLabels is an expression for the names of columns, on a narrow screen, that overlap their
// values (the name is wider than its place and the cell has only one line) or belong to visible
// empty cells.
const badLabels = `(() => {
	const pen = document.createElement("canvas").getContext("2d");
	return [...document.querySelectorAll(".short td")].filter((cell) => {
		const style = getComputedStyle(cell), box = cell.getBoundingClientRect();
		pen.font = style.font;
		const oneLine = box.height < 1.9 * parseFloat(style.lineHeight), wide = pen.measureText(cell.dataset.column || "").width > parseFloat(style.paddingLeft);
		return box.height > 0 && (cell.textContent === "" || wide && oneLine);
	}).map((cell) => cell.dataset.column);
})()`

// contrastOf is an expression for the contrast of each kind of text with the page's background (Web
// Content Accessibility Guidelines 2.2, section 1.4.3, and its definition of relative luminance).
const contrastOf = `(() => {
	const light = (color) => { const [r, g, b] = color.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
		.map((v) => v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = light(getComputedStyle(document.body).backgroundColor);
	const found = {};
	for (const e of document.querySelectorAll("h1, h2, p, .lead, .facts, a, summary, .verdict, .severity, svg text")) {
		const style = getComputedStyle(e), ink = light(e.namespaceURI.endsWith("svg") ? style.fill : style.color);
		const name = e.tagName + "." + (e.getAttribute("class") || "");
		found[name] = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
	}
	found.ground = ground;
	return found; })()`

// In light and in dark mode, the contrast of text with its background is at least 4.5 to 1.
func isReadableInDark(t *testing.T, ctx context.Context, all []record.Document) {
	p := show(t, ctx, 1100, all...)
	for _, scheme := range []string{"light", "dark"} {
		if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}); err != nil {
			t.Fatal(err)
		}
		contrasts := value[map[string]float64](p, contrastOf)
		if dark := contrasts["ground"] < 0.2; dark != (scheme == "dark") || len(contrasts) < 10 {
			t.Errorf("%s: the ground's luminance is %v, of %d kinds of text", scheme, contrasts["ground"], len(contrasts))
		}
		delete(contrasts, "ground")
		for name, contrast := range contrasts {
			if contrast < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f", scheme, name, contrast)
			}
		}
	}
	p.silent()
}

// Text that would do harm as markup is shown on the page as text.
func hostileTextDoesNothing(t *testing.T, ctx context.Context, _ []record.Document) {
	p := show(t, ctx, 1100, append(hostileDocuments(), filledDocuments(hostile, func() float64 { return 5 })...)...)
	if harm := value[bool](p, `"harm" in window || document.images.length > 0 || document.querySelectorAll("article script:not([type])").length > 0`); harm {
		t.Error("it does harm")
	}
	if shown := value[bool](p, fmt.Sprintf(`document.body.innerText.includes(%q)`, "<script>window.harm=1</script>")); !shown {
		t.Error("it is not shown")
	}
	p.silent()
}

// shownView is the part of a trace that a picture shows, in nanoseconds.
type shownView struct{ From, To float64 }

// Dragging zooms to the marked part, keys and buttons work, and pointing at a gap describes it.
func canBeZoomed(t *testing.T, ctx context.Context, _ []record.Document) {
	trace := aTrace(40)
	p := show(t, ctx, 1100, record.Activity{Traces: []activity.Analysis{trace}})
	shown := func() shownView {
		return value[shownView](p, `(() => { const c = document.querySelector("canvas"); return { from: +c.dataset.from, to: +c.dataset.to }; })()`)
	}
	near := func(what string, got shownView, from, to float64) {
		t.Helper()
		if slack := (to - from) / 50; got.From < from-slack || got.From > from+slack || got.To < to-slack || got.To > to+slack {
			t.Errorf("%s: %v, want %v to %v", what, got, from, to)
		}
	}
	near("at first", shown(), 0, trace.DurationNs)

	box := value[struct{ X, Y, Width float64 }](p, `(() => { const c = document.querySelector("canvas"); c.scrollIntoView({ block: "center" }); return c.getBoundingClientRect().toJSON(); })()`)
	p.do(chromedp.DragAndDropXY(box.X+0.25*box.Width, box.Y+60, box.X+0.75*box.Width, box.Y+60))
	near("dragged", shown(), 0.25*trace.DurationNs, 0.75*trace.DurationNs)
	p.do(chromedp.Focus("canvas"), chromedp.KeyEvent("+"))
	near("zoomed in by a key", shown(), 0.375*trace.DurationNs, 0.625*trace.DurationNs)
	p.do(chromedp.Click(`button[data-do="on"]`))
	near("moved by a button", shown(), 0.5*trace.DurationNs, 0.75*trace.DurationNs)
	p.do(chromedp.Focus("canvas"), chromedp.KeyEvent("0"))
	near("all again", shown(), 0, trace.DurationNs)

	gap := trace.Periods[41]
	at := box.X + box.Width*(gap.StartNs+gap.DurationNs/2)/trace.DurationNs
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, at, box.Y+60))
	if tip := value[string](p, `document.querySelector(".tip:not([hidden])")?.textContent ?? ""`); !strings.Contains(tip, "I20,") || !strings.Contains(tip, "µs") && !strings.Contains(tip, "ns") {
		t.Errorf("at %s: %q", gap.Label, tip)
	}
	p.silent()
}

// A trace without any gap has a picture that says so, and the pictures after it are drawn. An
// earlier version did not draw them, since the list of causes was null.
func isDrawnWithoutGaps(t *testing.T, ctx context.Context, _ []record.Document) {
	quiet := activity.Analysis{DurationNs: 5e6, Periods: []activity.TimedPeriod{{Label: "A0", State: "active", DurationNs: 5e6}}}
	p := show(t, ctx, 1100, record.Activity{Traces: []activity.Analysis{quiet, aTrace(40)}})
	if said := value[[]string](p, `[...document.querySelectorAll(".view")].map((e) => e.textContent)`); len(said) != 2 || !strings.Contains(said[0], "0 gaps") || !strings.Contains(said[1], "40 gaps") {
		t.Errorf("%q", said)
	}
	p.silent()
}

// Each figure has a table that opens at a click.
func dataOneClickAway(t *testing.T, ctx context.Context, all []record.Document) {
	p := show(t, ctx, 1100, all...)
	bare := value[[]string](p, `[...document.querySelectorAll(".part:has(figure)")].filter((e) => !e.querySelector("details table td")).map((e) => e.querySelector("h2").textContent)`)
	if len(bare) > 0 {
		t.Errorf("no data beside %q", bare)
	}
	p.do(chromedp.Click("details summary"))
	if height := value[float64](p, `document.querySelector("details table").getBoundingClientRect().height`); height < 20 {
		t.Errorf("the table that was opened is %v high", height)
	}
	p.silent()
}
