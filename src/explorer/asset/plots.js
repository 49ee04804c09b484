// Plots that can be read day by day, in the place of those that the server drew. Each is made when it comes into view.

/** @typedef {import('uplot')} Plot */

const DAY_MS = 86_400_000
const { lang = 'en', plots: file = '' } = document.body.dataset
const short = new Intl.NumberFormat(lang, { notation: 'compact', maximumSignificantDigits: 3 })

/** The widest bar, as a share of the plot: that of the bars which the server drew. */
const WIDEST = 1 / 20

/** Steps of an axis that counts: half of a thing is none. */
const WHOLE = Array.from({ length: 19 }, (_, power) => [1, 2, 5].map(step => step * 10 ** power)).flat()

/**
 * Where an axis is labelled: at whole steps; a low plot, on which only zero would be, has its ends.
 * @param {{ from: number, to: number, step: number, least: number, most: number }} axis
 */
const ticksOf = ({ from, to, step, least, most }) => {
  const [first, last] = [Math.ceil(from / step), Math.floor(to / step)]
  return last > first
    ? Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)))
    : [...new Set([least, 0, most])]
}

/** The library is fetched by pages that have plots. */
const loaded = () =>
  new Promise((done, fail) => {
    const script = document.createElement('script')
    script.src = file
    script.onload = done
    script.onerror = fail
    document.head.append(script)
  })

/**
 * The axis of days and the axis of values.
 * @param {{ figure: HTMLElement, numbers: number[], dateOf: (at: number) => string, least: number, most: number }} plot
 * @returns {import('uplot').Axis[]}
 */
const axesOf = ({ figure, numbers, dateOf, least, most }) => {
  const axis = {
    stroke: getComputedStyle(figure.querySelector('figcaption') ?? figure).color,
    grid: { stroke: getComputedStyle(figure).borderTopColor, width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  }
  return [
    {
      ...axis,
      space: 80,
      grid: { show: false },
      size: 24,
      incrs: [1, 2, 7, 14, 30, 60, 90],
      values: (_, splits) => splits.map(at => (Number.isInteger(at) ? dateOf(at).slice(5) : '')),
    },
    {
      ...axis,
      size: 56,
      space: 32,
      ...(numbers.every(Number.isInteger) ? { incrs: WHOLE } : {}),
      splits: (...[, , from, to, step]) => ticksOf({ from, to, step, least, most }),
      values: (_, splits) => splits.map(value => short.format(value)),
    },
  ]
}

/**
 * The bars that the server drew: their colour, and which values they show. Gains and losses are bars of their own.
 * @param {SVGElement} svg
 */
const barsOf = svg =>
  [...svg.querySelectorAll('path')].map(path => ({
    fill: getComputedStyle(path).fill,
    /** @param {number} value */
    shows: value =>
      path.classList.contains('gain') ? value > 0 : path.classList.contains('loss') ? value < 0 : true,
  }))

/** @param {HTMLElement} figure */
const draw = figure => {
  const svg = figure.querySelector('svg')
  const caption = figure.querySelector('.top-value')
  if (svg === null || caption === null) return
  const { start = '', values = '' } = figure.dataset
  const texts = values.split(' ')
  const numbers = texts.map(text => Number(text.replaceAll(',', '')))
  const [least, most] = [Math.min(0, ...numbers), Math.max(0, ...numbers)]
  const told = [...caption.childNodes]
  /** @param {number} at */
  const dateOf = at => new Date(Date.parse(start) + at * DAY_MS).toISOString().slice(0, 10)
  const bars = barsOf(svg)
  /** @param {number} at */
  const saidOf = at => {
    const [text = '', value = 0] = [texts[at], numbers[at]]
    return bars.length > 1 && value > 0 ? `+${text}` : text.replace('-', '−')
  }
  // A plot that was drawn for a wider window would keep the figure that wide.
  figure.querySelector('.uplot')?.remove()
  const { width, height } = svg.getBoundingClientRect()
  const Plot = globalThis.uPlot
  const plot = new Plot(
    {
      width,
      height,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { time: false, range: () => [-0.5, numbers.length - 0.5] },
        y: {
          range: () => [least * 1.05, most > 0 ? most * 1.05 : least < 0 ? 0 : 1],
        },
      },
      axes: axesOf({ figure, numbers, dateOf, least, most }),
      series: [
        {},
        ...bars.map(({ fill }) => ({
          fill,
          width: 0,
          points: { show: false },
          ...(Plot.paths.bars === undefined
            ? {}
            : { paths: Plot.paths.bars({ size: [0.85, width * WIDEST] }) }),
        })),
      ],
      hooks: {
        setCursor: [
          ({ cursor: { idx } }) => {
            if (typeof idx === 'number') caption.textContent = `${dateOf(idx)}: ${saidOf(idx)}`
            else caption.replaceChildren(...told)
          },
        ],
      },
    },
    [
      numbers.map((_, at) => at),
      ...bars.map(({ shows }) => numbers.map(value => (shows(value) ? value : null))),
    ],
  )
  figure.insertBefore(plot.root, svg)
  figure.classList.add('drawn')
}

const drawn = () => /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('figure.drawn'))

const redraw = () => {
  for (const figure of drawn()) {
    figure.classList.remove('drawn')
    draw(figure)
  }
}

if (document.querySelector('figure.plot') !== null)
  loaded().then(
    () => {
      const seeing = new IntersectionObserver(entries => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue
          seeing.unobserve(target)
          draw(/** @type {HTMLElement} */ (target))
        }
      })
      const watch = () => {
        for (const figure of document.querySelectorAll('figure.plot:not(.drawn)')) seeing.observe(figure)
      }
      watch()
      // A live page brings plots of more days.
      document.addEventListener('rows', watch)
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
      let width = innerWidth
      addEventListener('resize', () => {
        if (innerWidth === width) return
        width = innerWidth
        redraw()
      })
    },
    () => undefined,
  )
