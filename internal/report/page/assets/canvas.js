// What the timeline and the heat map have in common.

function bytes(base64) {
	return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

// surface makes a canvas as large as it is shown, and gives its context in CSS
// pixels. The plot is left of and above the axes.
function surface(canvas) {
	const width = canvas.clientWidth, height = canvas.clientHeight, px = window.devicePixelRatio || 1;
	canvas.width = Math.round(width * px);
	canvas.height = Math.round(height * px);
	const ctx = canvas.getContext('2d');
	ctx.scale(px, px);
	ctx.font = '12px ' + getComputedStyle(canvas).fontFamily;
	return {ctx, width, height, left: 76, top: 6, right: width - 8, bottom: height - 40};
}

// ticks are round values between two, at most about n.
function ticks(from, to, n) {
	const rough = (to - from) / n, power = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
	const out = [];
	for (let i = Math.ceil(from / step); i * step <= to + step * 1e-9; i++) out.push(i * step);
	return out;
}

function timeAxis(s, from, to) {
	const {ctx} = s;
	ctx.fillStyle = color('text');
	ctx.strokeStyle = color('line');
	ctx.textAlign = 'center';
	ctx.textBaseline = 'top';
	const at = ticks(from, to, Math.max(2, (s.right - s.left) / 90)), texts = tickTexts('s', at);
	at.forEach((t, i) => {
		const x = s.left + (t - from) / (to - from) * (s.right - s.left);
		ctx.beginPath();
		ctx.moveTo(x, s.bottom);
		ctx.lineTo(x, s.bottom + 5);
		ctx.stroke();
		ctx.fillText(texts[i], Math.min(x, s.width - ctx.measureText(texts[i]).width / 2), s.bottom + 7);
	});
	ctx.fillText('time since the start of the run', (s.left + s.right) / 2, s.bottom + 23);
	ctx.strokeRect(s.left - 0.5, s.top - 0.5, s.right - s.left + 1, s.bottom - s.top + 1);
}

function sideLabel(s, text) {
	s.ctx.save();
	s.ctx.translate(13, (s.top + s.bottom) / 2);
	s.ctx.rotate(-Math.PI / 2);
	s.ctx.textAlign = 'center';
	s.ctx.textBaseline = 'middle';
	s.ctx.fillStyle = color('text');
	s.ctx.fillText(text, 0, 0);
	s.ctx.restore();
}
