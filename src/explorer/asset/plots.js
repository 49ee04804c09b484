// Replaces a plot's caption by the value at which the visitor points.

const SVG = 'http://www.w3.org/2000/svg'

/** The caption of each plot before the visitor pointed at it. */
const told = /** @type {WeakMap<Element, Node[]>} */ (new WeakMap())

/** @param {Element} figure */
const leave = figure => {
  const before = told.get(figure)
  if (before === undefined) return
  told.delete(figure)
  figure.querySelector('.told')?.replaceChildren(...before)
  figure.querySelector('.pointed')?.remove()
}

/**
 * @param {HTMLElement} figure
 * @param {number} x
 */
const point = (figure, x) => {
  const drawing = figure.querySelector('svg.drawing')
  const caption = figure.querySelector('.told')
  if (drawing === null || caption === null) return
  const points = (figure.dataset['points'] ?? '').split('|')
  const { left, width } = drawing.getBoundingClientRect()
  const at = Math.floor(((x - left) / width) * points.length)
  if (!(at >= 0 && at < points.length)) {
    leave(figure)
    return
  }
  if (!told.has(figure)) told.set(figure, [...caption.childNodes])
  caption.textContent = points[at] ?? ''
  const mark = drawing.querySelector('.pointed') ?? drawing.appendChild(document.createElementNS(SVG, 'path'))
  mark.setAttribute('class', 'pointed')
  mark.setAttribute('d', `M${((at + 0.5) / points.length) * 1200} 0V200`)
}

// Plots are added and removed while a page is open, so the document listens.
for (const kind of ['pointermove', 'pointerdown', 'pointerout'])
  document.addEventListener(kind, event => {
    if (!(event instanceof PointerEvent && event.target instanceof Element)) return
    const figure = event.target.closest('figure.plot')
    if (!(figure instanceof HTMLElement)) return
    const isGone =
      kind === 'pointerout' && !(event.relatedTarget instanceof Node && figure.contains(event.relatedTarget))
    if (isGone) leave(figure)
    else if (kind !== 'pointerout') point(figure, event.clientX)
  })
