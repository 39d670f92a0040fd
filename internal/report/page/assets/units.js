// Numbers as people read them, by the unit of an axis.

function digits(v, n) {
	return String(Number(v.toPrecision(n)));
}

function seconds(v) {
	const a = Math.abs(v);
	if (a === 0) return '0s';
	if (a < 0.9995e-3) return digits(v * 1e6, 3) + 'µs';
	if (a < 0.9995) return digits(v * 1e3, 3) + 'ms';
	if (a < 120) return digits(v, 3) + 's';
	const all = Math.round(a), h = Math.floor(all / 3600), m = Math.floor(all / 60) % 60, s = all % 60;
	return (h ? h + 'h' : '') + m + 'm' + (s ? s + 's' : '');
}

function count(v) {
	return Math.abs(v) >= 1e6 ? digits(v, 4) : digits(v, 4).replace(/^(-?\d+)(\d{3})(\.|$)/, '$1,$2$3');
}

function show(unit, v) {
	if (v === null || v === undefined || Number.isNaN(v)) return '–';
	if (unit === 's') return seconds(v);
	if (unit === 'p') return 'p' + v;
	return count(v) + (unit ? ' ' + unit : '');
}

// Where a percentile lies on an axis that gives each nine as much room.
const tail = (p) => -Math.log10(1 - p / 100);
const untail = (x) => Math.round((100 - 100 * Math.pow(10, -x)) * 1e4) / 1e4;

// The page's colours, which follow light and dark.
function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

const seriesColor = (i) => (i < 0 ? color('failed') : color('c' + (i % 8)));
