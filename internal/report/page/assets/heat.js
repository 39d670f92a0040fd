// Gaps between tokens by time and size: the darker (on a dark page the
// brighter), the more.

function blend(a, b, share) {
	const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
	const [x, y] = [rgb(a), rgb(b)];
	return 'rgb(' + x.map((v, i) => Math.round(v + (y[i] - v) * share)).join(',') + ')';
}

function drawHeat(element, h) {
	const canvas = element.querySelector('canvas'), reading = element.querySelector('.reading');
	const counts = new Uint32Array(bytes(h.data).buffer), most = counts.reduce((a, b) => Math.max(a, b), 1);
	const edge = (row) => h.low * Math.pow(h.high / h.low, row / h.rows);
	let s, at = -1;

	function draw() {
		s = surface(canvas);
		const {ctx} = s, wide = (s.right - s.left) / h.columns, high = (s.bottom - s.top) / h.rows;
		const low = color('heat-low'), top = color('heat-high');
		for (let c = 0; c < h.columns; c++) {
			for (let r = 0; r < h.rows; r++) {
				const n = counts[c * h.rows + r];
				if (!n) continue;
				ctx.fillStyle = blend(low, top, most > 1 ? Math.log(n) / Math.log(most) : 1);
				ctx.fillRect(s.left + c * wide, s.bottom - (r + 1) * high, wide + 0.5, high + 0.5);
			}
		}
		ctx.fillStyle = color('text');
		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		const every = Math.max(1, Math.ceil(h.rows / 8));
		for (let r = 0; r <= h.rows; r += every) ctx.fillText(show('s', edge(r)), s.left - 5, Math.max(s.bottom - r * high, s.top + 6));
		timeAxis(s, 0, h.end);
		sideLabel(s, 'gap between token events');
		if (at >= 0) {
			ctx.strokeStyle = color('failed');
			ctx.strokeRect(s.left + at * wide, s.top, Math.max(wide, 2), s.bottom - s.top);
		}
		canvas.dataset.drawn = 'true';
	}

	function read(column) {
		at = Math.min(Math.max(column, 0), h.columns - 1);
		draw();
		const rows = counts.subarray(at * h.rows, (at + 1) * h.rows), all = rows.reduce((a, b) => a + b, 0);
		const upTo = (n) => {
			let seen = 0;
			for (let r = 0; r < h.rows; r++) if ((seen += rows[r]) >= n) return seconds(edge(r + 1));
			return '–';
		};
		const time = (c) => digits(h.end * c / h.columns, 4) + ' s';
		reading.textContent = time(at) + ' to ' + time(at + 1) + ': ' + count(all) + ' gaps' + (all ? ', half up to ' + upTo(all / 2) + ', 99 % up to ' + upTo(0.99 * all) + ', all up to ' + upTo(all) : '');
	}
	canvas.onkeydown = (e) => {
		const act = {ArrowLeft: () => read(at - 1), ArrowRight: () => read(at + 1), Home: () => read(0), End: () => read(h.columns - 1)}[e.key];
		if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
		e.preventDefault();
		act();
	};
	canvas.onpointermove = (e) => {
		const c = Math.floor((e.offsetX - s.left) / (s.right - s.left) * h.columns);
		if (c >= 0 && c < h.columns && c !== at) read(c);
	};
	return {element: canvas, draw, resize: draw};
}
