// Draws all charts, and again when their size, or light and dark, change.

const data = JSON.parse(document.getElementById('data').textContent);
const drawn = [];
for (const [attribute, items, make] of [['figure', data.figures, drawFigure], ['timeline', data.timelines, drawTimeline], ['heat', data.heats, drawHeat]]) {
	for (const element of document.querySelectorAll('[data-' + attribute + ']')) {
		try {
			const chart = make(element, items[element.dataset[attribute]]);
			chart.draw();
			drawn.push(chart);
		} catch (e) { // the others are still of use
			console.error(element.dataset[attribute], e);
		}
	}
}

const widths = new Map(drawn.map((c) => [c.element, c.element.clientWidth]));
const watch = new ResizeObserver((changes) => {
	requestAnimationFrame(() => {
		for (const {target} of changes) {
			if (widths.get(target) === target.clientWidth || target.clientWidth === 0) continue;
			widths.set(target, target.clientWidth);
			drawn.find((c) => c.element === target).resize();
		}
	});
});
for (const c of drawn) watch.observe(c.element);

const redraw = () => drawn.forEach((c) => c.draw());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
// On paper all is light.
addEventListener('beforeprint', () => { document.documentElement.classList.add('print'); redraw(); });
addEventListener('afterprint', () => { document.documentElement.classList.remove('print'); redraw(); });
document.documentElement.dataset.ready = 'true';
