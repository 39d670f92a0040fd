// A bar a request. Bars that overlap in time lie in different lanes, so that
// the number of lanes in use is the number of requests in flight.

function readBars(t) {
	const raw = bytes(t.data), n = t.bars, column = (i) => new Uint32Array(raw.buffer, 4 * n * i, n);
	return {n, start: column(0), queue: column(1), first: column(2), length: column(3), tokens: column(4), index: column(5), flags: raw.subarray(24 * n)};
}

// lanes gives each of the bars, which come by their start, a lane that is
// free: the one that was left first, by a heap of the lanes' ends.
function lanes(bars, visible) {
	const ends = [], lane = new Map();
	let used = 0;
	const below = (i, j) => ends[i].end < ends[j].end;
	function down(i) {
		for (;;) {
			let least = i;
			for (const c of [2 * i + 1, 2 * i + 2]) if (c < ends.length && below(c, least)) least = c;
			if (least === i) return;
			[ends[i], ends[least]] = [ends[least], ends[i]];
			i = least;
		}
	}
	for (const b of visible) {
		const end = bars.start[b] + bars.queue[b] + bars.length[b];
		if (ends.length && ends[0].end <= bars.start[b]) {
			lane.set(b, ends[0].lane);
			ends[0].end = end;
			down(0);
			continue;
		}
		lane.set(b, used);
		ends.push({end, lane: used++});
		for (let i = ends.length - 1; i && below(i, (i - 1) >> 1); i = (i - 1) >> 1) [ends[i], ends[(i - 1) >> 1]] = [ends[(i - 1) >> 1], ends[i]];
	}
	return {lane, used: Math.max(used, 1)};
}

const noToken = 0xffffffff;

function drawTimeline(element, t) {
	const canvas = element.querySelector('canvas'), reading = element.querySelector('.reading');
	const bars = readBars(t);
	let last = 0;
	for (let i = 0; i < bars.n; i++) last = Math.max(last, bars.start[i] + bars.queue[i] + bars.length[i]);
	const whole = [bars.n ? bars.start[0] * t.tick : 0, last * t.tick || 1];
	let [from, to] = whole, placed, visible, s, chosen = -1;
	// As high as its lanes need, so that a few requests leave no empty room.
	canvas.style.height = Math.min(360, 46 + 22 * Math.max(2, lanes(bars, [...Array(bars.n).keys()]).used)) + 'px';

	function draw() {
		s = surface(canvas);
		visible = [];
		for (let i = 0; i < bars.n; i++) {
			const a = bars.start[i] * t.tick;
			if (a > to) break;
			if ((bars.start[i] + bars.queue[i] + bars.length[i]) * t.tick >= from) visible.push(i);
		}
		placed = lanes(bars, visible);
		const {ctx} = s, scale = (s.right - s.left) / (to - from), high = Math.min((s.bottom - s.top) / placed.used, 22);
		const gap = high > 4 ? 1 : 0, thick = Math.max(high - gap, 0.5);
		ctx.save();
		ctx.beginPath();
		ctx.rect(s.left, s.top, s.right - s.left, s.bottom - s.top);
		ctx.clip();
		const part = (i, a, b) => ctx.fillRect(s.left + (a * t.tick - from) * scale, s.top + placed.lane.get(i) * high, Math.max((b - a) * t.tick * scale, 0.75), thick);
		const kind = (i) => t.classes[(bars.flags[i] & 0x3f) - 1], ended = (i) => kind(i) === undefined;
		const sent = (i) => bars.start[i] + bars.queue[i];
		const layer = (name, f) => { ctx.fillStyle = color(name); visible.forEach(f); };
		layer('queue', (i) => { if (bars.queue[i]) part(i, bars.start[i], sent(i)); });
		layer('prefill', (i) => { if (ended(i)) part(i, sent(i), sent(i) + Math.min(bars.first[i], bars.length[i])); });
		layer('decode', (i) => { if (ended(i) && bars.first[i] < bars.length[i]) part(i, sent(i) + bars.first[i], sent(i) + bars.length[i]); });
		layer('failed', (i) => { if (!ended(i) && kind(i) !== 'cancelled') part(i, sent(i), sent(i) + bars.length[i]); });
		layer('cancelled', (i) => { if (kind(i) === 'cancelled') part(i, sent(i), sent(i) + bars.length[i]); });
		layer('dim', (i) => { if (bars.flags[i] >> 6) part(i, bars.start[i], sent(i) + bars.length[i]); });
		if (chosen >= 0 && placed.lane.has(chosen)) {
			ctx.strokeStyle = color('text');
			ctx.lineWidth = 2;
			ctx.strokeRect(s.left + (bars.start[chosen] * t.tick - from) * scale, s.top + placed.lane.get(chosen) * high, Math.max((bars.queue[chosen] + bars.length[chosen]) * t.tick * scale, 2), thick);
		}
		ctx.restore();
		timeAxis(s, from, to);
		sideLabel(s, placed.used + (placed.used === 1 ? ' lane' : ' lanes'));
		let x = s.left;
		ctx.textAlign = 'left';
		ctx.textBaseline = 'alphabetic';
		for (const [name, text] of [['queue', 'waits'], ['prefill', 'to first token'], ['decode', 'to end'], ['failed', 'failed'], ['cancelled', 'cancelled']]) {
			ctx.fillStyle = color(name);
			ctx.fillRect(x, s.height - 10, 10, 10);
			ctx.fillStyle = color('text');
			ctx.fillText(text, x + 14, s.height - 1);
			x += 26 + ctx.measureText(text).width;
		}
		canvas.dataset.drawn = 'true';
		canvas.dataset.bars = visible.length;
	}

	function view(a, b) {
		const width = Math.min(Math.max(b - a, 20 * t.tick), whole[1] - whole[0]);
		from = Math.min(Math.max(a, whole[0]), whole[1] - width);
		to = from + width;
		draw();
	}
	const zoom = (by, about = (from + to) / 2) => view(about - (about - from) * by, about + (to - about) * by);
	const pan = (by) => view(from + (to - from) * by, to + (to - from) * by);

	function choose(i) {
		if (i < 0 || i >= bars.n) return;
		chosen = i;
		const a = bars.start[i] * t.tick, length = (bars.queue[i] + bars.length[i]) * t.tick;
		if (a > to || a + length < from) view(a - (to - from) / 2, a + (to - from) / 2);
		else draw();
		const kind = bars.flags[i] & 0x3f;
		reading.textContent = (bars.flags[i] >> 6 ? t.parts[bars.flags[i] >> 6] + ' request ' : 'request ') + bars.index[i] + ': wanted at ' + digits(a, 6) + ' s, waited ' + seconds(bars.queue[i] * t.tick) +
			', first token ' + (bars.first[i] === noToken ? 'never' : 'after ' + seconds(bars.first[i] * t.tick)) + ', end after ' + seconds(bars.length[i] * t.tick) +
			', ' + bars.tokens[i] + ' output tokens' + (kind ? ', ' + t.classes[kind - 1] : '');
	}

	function under(e) {
		const at = from + (e.offsetX - s.left) / (s.right - s.left) * (to - from);
		const high = Math.min((s.bottom - s.top) / placed.used, 22), lane = Math.floor((e.offsetY - s.top) / high);
		return {at, bar: visible.find((i) => placed.lane.get(i) === lane && bars.start[i] * t.tick <= at && at <= (bars.start[i] + bars.queue[i] + bars.length[i]) * t.tick)};
	}

	const keys = {ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => view(...whole),
		ArrowDown: () => choose(chosen < 0 ? visible[0] : chosen + 1), ArrowUp: () => choose(chosen - 1)};
	canvas.onkeydown = (e) => {
		if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
		e.preventDefault();
		keys[e.key]();
	};
	const buttons = {in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.5), right: () => pan(0.5), all: () => view(...whole)};
	for (const b of element.querySelectorAll('button')) b.onclick = buttons[b.dataset.do];
	canvas.addEventListener('wheel', (e) => { // with Ctrl, as in maps, so that the page still scrolls
		if (!e.ctrlKey) return;
		e.preventDefault();
		zoom(e.deltaY > 0 ? 1.25 : 0.8, under(e).at);
	}, {passive: false});
	canvas.ondblclick = () => view(...whole);
	dragToZoom(canvas, (a, b) => view(under({offsetX: a, offsetY: 0}).at, under({offsetX: b, offsetY: 0}).at), (e) => choose(under(e).bar ?? -1));
	return {element: canvas, draw, resize: draw};
}

// dragToZoom calls select with the ends of a drag, and click without one.
function dragToZoom(canvas, select, click) {
	let start = null, box = null;
	canvas.onpointerdown = (e) => {
		if (e.button !== 0) return;
		start = e.offsetX;
		canvas.setPointerCapture(e.pointerId);
	};
	canvas.onpointermove = (e) => {
		if (start === null || Math.abs(e.offsetX - start) < 4) return;
		if (!box) {
			box = document.createElement('div');
			box.className = 'selection';
			canvas.parentNode.append(box);
		}
		box.style.left = Math.min(start, e.offsetX) + 'px';
		box.style.width = Math.abs(e.offsetX - start) + 'px';
	};
	const end = (e) => {
		if (start === null) return;
		const from = start, dragged = box !== null;
		start = null;
		if (box) box.remove();
		box = null;
		if (e.type === 'pointercancel') return;
		if (dragged) select(Math.min(from, e.offsetX), Math.max(from, e.offsetX));
		else click(e);
	};
	canvas.onpointerup = end;
	canvas.onpointercancel = end;
}
