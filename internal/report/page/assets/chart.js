// Line charts, drawn by uPlot.

// align brings a figure's series onto one ascending x, as uPlot wants them.
function align(fig) {
	const tables = fig.series.map((s) => {
		const points = s.xs.map((x, i) => [fig.x.tail ? tail(x) : x, s.ys[i]]);
		points.sort((a, b) => a[0] - b[0]);
		const once = points.filter((p, i) => p[0] !== null && (i === 0 || p[0] !== points[i - 1][0]));
		return [once.map((p) => p[0]), once.map((p) => p[1])];
	});
	return uPlot.join(tables);
}

function axes(fig, element) {
	const font = '12px ' + getComputedStyle(element).fontFamily;
	const common = {stroke: color('text'), grid: {stroke: color('line'), width: 1}, ticks: {stroke: color('line'), width: 1}, font, labelFont: font, labelSize: 20};
	const x = {...common, label: fig.x.label, size: 34, space: 64, values: (u, all) => tickTexts(fig.x.unit, all)};
	if (fig.x.tail) {
		const at = [0, 50, 75, 90, 95, 99, 99.5, 99.9];
		x.splits = (u) => at.map(tail).filter((v) => v >= u.scales.x.min - 1e-9 && v <= u.scales.x.max + 1e-9);
		x.values = (u, all) => all.map((v) => show('p', untail(v)));
		x.space = 30;
		x.filter = (u, all) => all;
	}
	const y = {...common, label: fig.y.label, size: (u, values) => 24 + 7 * Math.max(4, ...(values || []).map((v) => v.length)), values: (u, all) => tickTexts(fig.y.unit, all)};
	return [x, y];
}

// yRange starts at 0, or at what is below it, and leaves room for the
// objectives' lines, unless one is so far off that it would flatten the curve.
function yRange(fig) {
	return (u, low, high) => {
		let top = high > 0 ? high : low < 0 ? 0 : 1;
		for (const l of fig.limits || []) if (l.y < 2.5 * top) top = Math.max(top, l.y);
		return [Math.min(0, low * 1.08), top * 1.08];
	};
}

// xRange is what there is to see of x: time from the start of the run, rates
// from 0 unless all are far from it, with room for the names of points.
function xRange(fig, xs) {
	let low = xs[0], high = xs[xs.length - 1];
	if (fig.curve) [low, high] = [low > high / 3 ? low * 0.9 : 0, high * 1.15];
	else if (!fig.x.tail) low = Math.min(0, low);
	for (const s of fig.shades || []) high = Math.max(high, s.to);
	return low < high ? [low, high] : [low - 0.5, low + 0.5];
}

function shades(fig) {
	return (u) => {
		u.ctx.save();
		u.ctx.fillStyle = color('shade');
		u.ctx.beginPath();
		u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
		u.ctx.clip();
		for (const s of fig.shades || []) {
			const a = u.valToPos(s.from, 'x', true), b = u.valToPos(s.to, 'x', true);
			u.ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
			label(u, s.name, a + 4, u.bbox.top + 12 * devicePixelRatio, color('soft'));
		}
		u.ctx.restore();
	};
}

function label(u, text, x, y, fill) {
	u.ctx.font = 12 * devicePixelRatio + 'px ' + getComputedStyle(document.body).fontFamily;
	u.ctx.textAlign = 'left';
	u.ctx.textBaseline = 'alphabetic';
	u.ctx.fillStyle = fill;
	u.ctx.fillText(text, x, y);
}

// pointName writes a point's name beside it, where no other one is.
function pointName(u, text, [x, y], taken) {
	const px = devicePixelRatio, high = 13 * px;
	if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
	u.ctx.font = 12 * px + 'px ' + getComputedStyle(document.body).fontFamily;
	const wide = u.ctx.measureText(text).width, right = x + 7 * px, left = x - 7 * px - wide;
	const fits = (b) => b[0] >= u.bbox.left && b[0] + b[2] <= u.bbox.left + u.bbox.width && b[1] >= u.bbox.top && b[1] + b[3] <= u.bbox.top + u.bbox.height &&
		!taken.some((t) => b[0] < t[0] + t[2] && t[0] < b[0] + b[2] && b[1] < t[1] + t[3] && t[1] < b[1] + b[3]);
	let box = null;
	for (let step = 0; step < 6 && !box; step++) {
		for (const [a, b] of [[right, y - 5 * px - high], [left, y - 5 * px - high], [right, y + 4 * px], [left, y + 4 * px]]) {
			const up = b < y ? -step : step;
			box = box || [[a, b + up * high, wide, high]].find(fits);
		}
	}
	if (!box) return; // the table has it
	taken.push(box);
	label(u, text, box[0], box[1] + high - 3 * px, color('soft'));
}

// marks draws what uPlot does not: the objectives' lines, curves whose x goes
// back, and the names of points.
function marks(fig) {
	return (u) => {
		const ctx = u.ctx, px = devicePixelRatio;
		ctx.save();
		ctx.beginPath();
		ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
		ctx.clip();
		const taken = [];
		for (const l of fig.limits || []) {
			const y = u.valToPos(l.y, 'y', true);
			ctx.strokeStyle = color('failed');
			ctx.lineWidth = 1.5 * px;
			ctx.setLineDash([7 * px, 4 * px]);
			ctx.beginPath();
			ctx.moveTo(u.bbox.left, y);
			ctx.lineTo(u.bbox.left + u.bbox.width, y);
			ctx.stroke();
			label(u, l.name, u.bbox.left + 6 * px, y - 4 * px, color('failed'));
			taken.push([u.bbox.left, y - 16 * px, ctx.measureText(l.name).width + 12 * px, 16 * px]);
		}
		fig.series.forEach((s, i) => {
			if (!fig.curve || !u.series[i + 1].show) return;
			const at = s.xs.map((x, k) => (s.ys[k] === null || x === null ? null : [u.valToPos(x, 'x', true), u.valToPos(s.ys[k], 'y', true)]));
			ctx.strokeStyle = seriesColor(s.color);
			ctx.lineWidth = 2 * px;
			ctx.setLineDash(s.dash ? [6 * px, 4 * px] : []);
			ctx.beginPath();
			let open = false;
			for (const p of at) {
				if (p && open) ctx.lineTo(p[0], p[1]);
				else if (p) ctx.moveTo(p[0], p[1]);
				open = p !== null;
			}
			if (!s.points) ctx.stroke();
			at.forEach((p, k) => {
				if (p && s.labels && !s.dash) pointName(u, s.labels[k], p, taken);
			});
		});
		ctx.restore();
	};
}

function seriesOptions(fig) {
	return fig.series.map((s) => ({
		label: s.name,
		stroke: seriesColor(s.color),
		width: 2,
		dash: s.dash ? [6, 4] : undefined,
		paths: s.points || fig.curve ? () => null : undefined,
		points: {show: s.points || fig.curve || undefined, size: fig.curve && s.points ? 14 : 6, fill: s.points && !fig.curve ? seriesColor(s.color) : undefined},
		value: (u, v) => show(fig.y.unit, v),
	}));
}

function drawFigure(element, fig) {
	const plot = element.querySelector('.plot'), reading = element.querySelector('.reading');
	const data = align(fig), whole = xRange(fig, data[0]);
	let u;
	const xText = (v) => (fig.x.tail ? show('p', untail(v)) : show(fig.x.unit, v, 5));
	function draw() {
		if (u) u.destroy();
		const [x, y] = axes(fig, element);
		u = new uPlot({
			width: plot.clientWidth, height: 250,
			scales: {x: {time: false, range: (u, low, high) => (low === data[0][0] && high === data[0][data[0].length - 1] ? whole : [low, high])}, y: {range: yRange(fig)}},
			axes: [x, y],
			series: [{label: fig.x.label, value: (u, v) => (v === null ? '–' : xText(v))}, ...seriesOptions(fig)],
			cursor: {points: {size: 7}},
			legend: {markers: {dash: (u, i) => (fig.series[i - 1].points ? 'dotted' : fig.series[i - 1].dash ? 'dashed' : 'solid')}},
			hooks: {drawClear: [shades(fig)], draw: [marks(fig), () => { plot.dataset.drawn = 'true'; }]},
		}, data, plot);
		for (const name of plot.querySelectorAll('.u-series > th')) {
			name.tabIndex = 0;
			name.setAttribute('role', 'button');
			name.onkeydown = (e) => {
				if (e.key !== 'Enter' && e.key !== ' ') return;
				e.preventDefault();
				name.click();
			};
		}
	}
	let at = -1;
	function read(i) {
		at = Math.min(Math.max(i, 0), data[0].length - 1);
		u.setCursor({left: u.valToPos(data[0][at], 'x'), top: u.over.clientHeight / 2});
		reading.textContent = [xText(data[0][at]), ...fig.series.map((s, k) => s.name + ' ' + show(fig.y.unit, data[k + 1][at]))].join(', ');
	}
	function zoom(by) {
		const {min, max} = u.scales.x, middle = at < 0 ? (min + max) / 2 : data[0][at], half = (max - min) * by / 2;
		u.setScale('x', {min: middle - half, max: middle + half});
		if (at >= 0) u.setCursor({left: u.valToPos(data[0][at], 'x'), top: u.over.clientHeight / 2});
	}
	plot.onkeydown = (e) => {
		if (e.target !== plot || e.ctrlKey || e.metaKey || e.altKey) return;
		const act = {ArrowLeft: () => read(at - 1), ArrowRight: () => read(at + 1), Home: () => read(0), End: () => read(data[0].length - 1),
			'+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => u.setScale('x', {min: whole[0], max: whole[1]})}[e.key];
		if (!act) return;
		e.preventDefault();
		act();
	};
	return {element: plot, draw, resize: () => u.setSize({width: plot.clientWidth, height: 250})};
}
