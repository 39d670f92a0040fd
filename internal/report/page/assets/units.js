// Numbers as people read them, by the unit of an axis.

function digits(v, n) {
	return String(Number(v.toPrecision(n)));
}

// seconds shows a time with n digits, and of one of minutes n - 3 decimals.
function seconds(v, n = 3) {
	const a = Math.abs(v);
	if (a === 0) return '0s';
	if (a < 0.9995e-3) return digits(v * 1e6, n) + 'µs';
	if (a < 0.9995) return digits(v * 1e3, n) + 'ms';
	if (a < 120) return digits(v, n) + 's';
	const fine = Math.pow(10, n - 3), all = Math.round(a * fine) / fine;
	const h = Math.floor(all / 3600), m = Math.floor(all / 60) % 60, s = Number((all % 60).toFixed(n - 3));
	return (v < 0 ? '-' : '') + (h ? h + 'h' : '') + m + 'm' + (s ? s + 's' : '');
}

function count(v, n = 4) {
	return Math.abs(v) >= 1e6 ? digits(v, n) : digits(v, n).replace(/^(-?\d+)(\d{3})(\.|$)/, '$1,$2$3');
}

function show(unit, v, n) {
	if (v === null || v === undefined || Number.isNaN(v)) return '–';
	if (unit === 's') return seconds(v, n);
	if (unit === 'p') return 'p' + v;
	return count(v, n) + (unit ? ' ' + unit : '');
}

// tickTexts are the labels of an axis: with as many digits as its ticks have,
// so that those of a narrow view far from 0 are not rounded to one another.
function tickTexts(unit, values) {
	const most = 9, exact = values.map((v) => show(unit, v, most));
	for (let n = unit === 's' ? 3 : 4; n < most; n++) {
		const texts = values.map((v) => show(unit, v, n));
		if (texts.every((t, i) => t === exact[i])) return texts;
	}
	return exact;
}

// Where a percentile lies on an axis that gives each nine as much room.
const tail = (p) => -Math.log10(1 - p / 100);
const untail = (x) => Math.round((100 - 100 * Math.pow(10, -x)) * 1e4) / 1e4;

// The page's colours, which follow light and dark.
function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

const seriesColor = (i) => (i < 0 ? color('failed') : color('c' + (i % 8)));
