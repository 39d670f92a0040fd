(function () {
'use strict';
// Text is only ever set as text: names and messages come from outside.
var token = document.querySelector('meta[name="stop-token"]').content;
var said = document.getElementById('said'), stop = document.getElementById('stop'), runs = document.getElementById('runs');
var shown = new Map(), stopping = false, lost = 0;

function say(text) { if (said.textContent !== text) said.textContent = text; }
function digits(v) { return v >= 100 ? v.toFixed(0) : v.toPrecision(3); }
function seconds(v) {
	if (v === null || v === undefined) return '–';
	if (v === 0) return '0 s';
	if (v < 1e-3) return digits(v * 1e6) + ' µs';
	if (v < 1) return digits(v * 1e3) + ' ms';
	return digits(v) + ' s';
}
function number(v, unit) {
	if (v === null || v === undefined) return '–';
	return (Number.isInteger(v) ? String(v) : digits(v)) + (unit || '');
}
function clock(v) {
	var s = Math.round(v || 0), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
	return (h ? h + 'h ' : '') + (h || m ? m + 'min ' : '') + (s % 60) + 's';
}
function element(name, text, parent) {
	var e = document.createElement(name);
	if (text !== undefined) e.textContent = text;
	if (parent) parent.appendChild(e);
	return e;
}

function tile(of, name, value) {
	var t = of.tiles[name];
	if (!t) {
		var box = element('div', undefined, of.section.querySelector('[data-tiles]'));
		box.className = 'tile';
		element('span', name, box);
		t = of.tiles[name] = element('strong', '', box);
	}
	if (t.textContent !== value) t.textContent = value;
}

var svg = 'http://www.w3.org/2000/svg';
function chart(of, name, points, key, unit) {
	var c = of.charts[name];
	if (!c) {
		var figure = element('figure', undefined, of.section.querySelector('[data-charts]'));
		c = of.charts[name] = { caption: element('figcaption', name, figure), box: document.createElementNS(svg, 'svg'), line: document.createElementNS(svg, 'polyline') };
		c.box.setAttribute('viewBox', '0 0 600 100');
		c.box.setAttribute('preserveAspectRatio', 'none');
		c.box.setAttribute('role', 'img');
		c.box.appendChild(c.line);
		figure.appendChild(c.box);
	}
	var known = points.filter(function (p) { return p[key] !== null; });
	var most = known.reduce(function (m, p) { return Math.max(m, p[key]); }, 0);
	var from = points.length ? points[0].at_s : 0, to = points.length ? points[points.length - 1].at_s : 1;
	c.line.setAttribute('points', known.map(function (p) {
		return (600 * (p.at_s - from) / Math.max(to - from, 1)).toFixed(1) + ',' + (96 - 92 * (most > 0 ? p[key] / most : 0)).toFixed(1);
	}).join(' '));
	var text = name + ', up to ' + unit(most);
	c.caption.textContent = text;
	c.box.setAttribute('aria-label', text);
}

function show(state) {
	var of = shown.get(state.key);
	if (!of) {
		var section = document.getElementById('run').content.firstElementChild.cloneNode(true);
		of = { section: section, tiles: {}, charts: {} };
		shown.set(state.key, of);
		runs.insertBefore(section, runs.firstChild);
	}
	var find = function (s) { return of.section.querySelector(s); }, l = state.live;
	find('h2').textContent = state.name;
	find('[data-about]').textContent = state.about;
	var mark = find('[data-mark]');
	mark.textContent = state.simulated ? 'SIMULATED: no real server is measured' : '';
	mark.hidden = !state.simulated;
	var bar = find('progress'), part = l.asked > 0 ? l.done / l.asked : l.limit_s > 0 ? l.elapsed_s / l.limit_s : null;
	bar.hidden = part === null && !state.ended;
	bar.value = state.ended ? 1 : Math.min(part || 0, 1);
	find('[data-progress]').textContent = state.ended ? 'It has ended after ' + clock(state.at_s) + '.' :
		(l.warmup ? 'Warm-up: ' : '') + l.done + (l.asked ? ' of ' + l.asked : '') + ' requests, ' + clock(l.elapsed_s) + (l.limit_s ? ' of ' + clock(l.limit_s) : '');
	tile(of, 'in flight', number(l.in_flight));
	tile(of, 'succeeded', number(l.succeeded));
	tile(of, 'failed', number(l.failed));
	tile(of, 'requests', number(l.requests_per_s, ' /s'));
	tile(of, 'output', number(l.output_tokens_per_s, ' tok/s'));
	tile(of, 'mean TTFT', seconds(l.mean_ttft_s));
	tile(of, 'mean TPOT', seconds(l.mean_tpot_s));
	chart(of, 'requests ended a second', state.points, 'requests_per_s', number);
	chart(of, 'output tokens a second', state.points, 'output_tokens_per_s', number);
	chart(of, 'mean TTFT', state.points, 'mean_ttft_s', seconds);
	chart(of, 'requests in flight', state.points, 'in_flight', number);
	var table = find('[data-percentiles]');
	table.hidden = !state.percentiles.length;
	table.caption.textContent = 'Of the last ' + state.recent + ' successes';
	var body = table.tBodies[0];
	body.textContent = '';
	state.percentiles.forEach(function (p) {
		var row = element('tr', undefined, body);
		element('th', p.name, row).scope = 'row';
		[p.ttft_s, p.tpot_s, p.latency_s].forEach(function (v) { element('td', seconds(v), row).className = 'number'; });
	});
	var failures = find('[data-failures]'), list = failures.querySelector('ul');
	failures.hidden = !state.failures.length;
	list.textContent = '';
	state.failures.forEach(function (f) { element('li', f, list); });
}

function ask() {
	fetch('/state', { cache: 'no-store' }).then(function (answer) {
		if (!answer.ok) throw new Error(answer.status);
		return answer.json();
	}).then(function (all) {
		lost = 0;
		all.runs.forEach(show);
		var under = all.runs.some(function (r) { return !r.ended; });
		stop.disabled = stopping || !under;
		if (stopping) say(under ? 'Stopping: requests in flight get a moment to end.' : 'Stopped.');
		else if (!all.runs.length) say('Waiting for the first figures.');
		else say(under ? '' : 'All runs so far have ended.');
	}).catch(function () {
		stop.disabled = true;
		if (++lost > 2) say('The test has ended, or its process is gone: these are its last figures.');
	}).then(function () { setTimeout(ask, 1000); });
}

stop.addEventListener('click', function () {
	if (!confirm('End all runs, as Ctrl-C would? The test then fails, and keeps what it has.')) return;
	stopping = stop.disabled = true;
	say('Stopping.');
	fetch('/stop', { method: 'POST', headers: { 'X-Stop-Token': token } }).then(function (answer) {
		if (!answer.ok) throw new Error(answer.status);
	}).catch(function () {
		stopping = false;
		say('It could not be stopped: load this page anew.');
	});
});
ask();
}());
