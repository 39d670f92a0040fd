package page

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/internal/report/figure"
	"github.com/stretchr/testify/require"
)

// inBrowser runs a script that returns a value beside the page's own ones, with
// elements of a chart (id f) and a timeline (id t) to draw into, and gives the
// value.
func inBrowser(t *testing.T, script string, into any) {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no browser: install chromium (apt-get install chromium) to see what the page's scripts draw")
	}
	profile, err := os.MkdirTemp("", "browser") // not t.TempDir: a process of the browser's may still write when it has ended
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	name := filepath.Join(t.TempDir(), "test.html")
	document := "<!doctype html><html><head><meta charset=utf-8><style>" + uplotCSS + pageCSS + "</style></head><body>" +
		`<figure id="f"><div class="plot" tabindex="0"></div><p class="reading"></p></figure>` +
		`<figure id="t"><div class="canvas"><canvas tabindex="0"></canvas></div><p class="reading"></p></figure>` +
		"<pre id=out></pre><script>" + uplotJS + unitsJS + chartJS + canvasJS + timelineJS + heatJS +
		"\ndocument.getElementById('out').textContent = JSON.stringify((() => {" + script + "})());</script></body></html>"
	require.NoError(t, os.WriteFile(name, []byte(document), 0o600))
	args := []string{"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + profile, "--proxy-server=127.0.0.1:1", "--disable-background-networking",
		"--enable-logging=stderr", "--window-size=1280,900", "--dump-dom"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which Chromium needs of root
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), browser, append(args, "file://"+filepath.ToSlash(name))...)
	cmd.Stdout, cmd.Stderr = &out, &said
	require.NoError(t, cmd.Run(), "%s", &said)
	require.False(t, strings.Contains(said.String(), "Uncaught"), &said)
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(element(t, out.String(), `<pre id="out">`, "</pre>"))), into))
}

// What the scripts show: an axis' labels are never rounded to one another,
// time begins with the run so that its warm-up is seen, a zoom shows what it
// says, and what was cancelled has not failed.
func TestScripts(t *testing.T) {
	over := figure.Figure{
		ID: "f", X: figure.Axis{Label: "time", Unit: figure.Seconds}, Y: figure.Axis{Label: "rate", Unit: figure.Requests},
		Series: []figure.Series{{Name: "sent", X: figure.Values{1, 3}, Y: figure.Values{-2, 4}, Dash: true}, {Name: "failures", X: figure.Values{3}, Y: figure.Values{0}, Points: true}},
		Shades: []figure.Shade{{From: 0, To: 0.5, Name: "warm-up"}},
	}
	curve := figure.Figure{
		ID: "f", X: figure.Axis{Label: "tok/s", Unit: figure.Tokens}, Y: figure.Axis{Label: "TTFT", Unit: figure.Seconds}, Curve: true,
		Series: []figure.Series{{Name: "mean", X: figure.Values{100, 1000, 900}, Y: figure.Values{1, 2, 3}, Labels: []string{"c=1", "c=2", "c=4"}}},
	}
	bars := []figure.Bar{{Start: 0, Length: 100, First: 50}, {Start: 200, Length: 100, First: figure.NoToken, Class: 1}, {Start: 400, Length: 100, First: figure.NoToken, Class: 2}}
	data, err := json.Marshal(map[string]any{
		"over": over, "curve": curve, "timeline": map[string]any{"tick": 0.01, "classes": []string{"cancelled", "reset"}, "parts": []string{"measured"}, "bars": len(bars), "data": packBars(bars)},
	})
	require.NoError(t, err)
	var got map[string]any
	inBrowser(t, `
		const data = `+string(data)+`, out = {};
		out.ticks = [[102.5, 105, 107.5], [150.2, 150.4], [0, 0.02, 0.04], [3600, 3720.5]].map((v) => tickTexts('s', v).join(' '));
		out.rates = tickTexts('tok/s', [1002.5, 1005]).join(' ');
		const f = document.getElementById('f');
		const low = yRange(data.over)(null, -2, 4);
		out.low = low[0] < -2 && low[1] > 4;
		out.whole = xRange(data.over, [1, 3]).join(' ');
		out.curve = xRange(data.curve, [100, 900, 1000]).map(Math.round).join(' ');
		drawFigure(f, data.over).draw();
		out.markers = [...f.querySelectorAll('.u-marker')].map((m) => m.style.borderStyle).join(' ');
		const t = document.getElementById('t'), canvas = t.querySelector('canvas');
		drawTimeline(t, data.timeline).draw();
		const ctx = canvas.getContext('2d'), wide = canvas.clientWidth - 8 - 76, px = window.devicePixelRatio || 1;
		const probe = document.createElement('canvas').getContext('2d');
		const name = (at) => {
			const c = ctx.getImageData((76 + wide * at / 5) * px, 12 * px, 1, 1).data;
			return ['queue', 'prefill', 'decode', 'failed', 'cancelled'].find((n) => {
				probe.fillStyle = color(n);
				probe.fillRect(0, 0, 1, 1);
				const d = probe.getImageData(0, 0, 1, 1).data;
				return [0, 1, 2].every((i) => Math.abs(c[i] - d[i]) < 3);
			});
		};
		out.bars = [name(0.25), name(0.75), name(2.5), name(4.5)].join(' ');
		return out;`, &got)
	want := map[string]any{
		"ticks":   []any{"102.5s 105s 107.5s", "2m30.2s 2m30.4s", "0s 20ms 40ms", "1h0m 1h2m0.5s"},
		"rates":   "1,002.5 tok/s 1,005 tok/s",
		"low":     true,
		"whole":   "0 3",
		"curve":   "0 1150",
		"markers": " dashed dotted",
		"bars":    "prefill decode cancelled failed",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
