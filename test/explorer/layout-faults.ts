/**
 * An expression for a page in the browser: what is wrong with its layout at the window's width, as sentences. A word of
 * the interface is any word outside of texts of the chain; of those, only words that are no longer than a name.
 */
export const LAYOUT_FAULTS = `(() => {
  const NAME = /^[\\w.]{1,16}$/
  /** Parts that scroll are this much wider than their card's content, for the outline of the focus. */
  const EDGE = 5
  const faults = new Set()
  const named = each => each.tagName.toLowerCase() + (each.getAttribute('class') ? '.' + each.getAttribute('class') : '')
  const note = (fault, each, text = '') =>
    faults.add(fault + ': ' + named(each.parentElement) + ' > ' + named(each) + ' ' + text.trim().slice(0, 40))
  const isShown = each => each.checkVisibility({ visibilityProperty: true }) && each.closest('.sr, .skip, .anchor, .cards thead') === null
  const everyShown = selector => [...document.querySelectorAll(selector)].filter(isShown)
  const styleOf = each => getComputedStyle(each)
  const scrollerOf = each => {
    for (let up = each; up !== null; up = up.parentElement) if (/auto|scroll/.test(styleOf(up).overflowX)) return up
  }
  const lines = rects => {
    const sorted = [...rects].filter(({ width }) => width > 0).sort((a, b) => a.top - b.top)
    let count = 0
    let bottom = -Infinity
    for (const rect of sorted) {
      if (rect.top + rect.height / 3 > bottom) count += 1
      bottom = Math.max(bottom, rect.bottom)
    }
    return count
  }
  const isCut = (each, size, shown) => each[size] > each[shown] + 1

  const root = document.documentElement
  if (root.scrollWidth > root.clientWidth)
    note('wider than the window', document.body, root.scrollWidth + ' px')
  for (const each of document.querySelectorAll('details')) each.open = true
  for (const each of everyShown('body *:not(input, textarea)')) {
    const { overflowX, overflowY, position } = styleOf(each)
    if (/hidden|clip/.test(overflowX) && isCut(each, 'scrollWidth', 'clientWidth')) note('cut', each, each.textContent)
    if (/hidden|clip/.test(overflowY) && isCut(each, 'scrollHeight', 'clientHeight')) note('cut', each, each.textContent)
  }

  const range = document.createRange()
  /** Whether the selected text of an element leaves the part of the page around it, which does not scroll. */
  const isBeyond = each => {
    const around = each.closest('.card, .bar, main, .foot') ?? document.body
    const { right } = around.getBoundingClientRect()
    const edge = right - parseFloat(styleOf(around).paddingRight)
    return scrollerOf(each) === undefined && range.getBoundingClientRect().right > edge + EDGE
  }
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  const wordsIn = (text, isLabel) =>
    isLabel && /\\p{Script=Han}/u.test(text)
      ? [...segmenter.segment(text)].filter(each => each.isWordLike).map(({ index, segment }) => [index, segment])
      : [...text.matchAll(/[^\\s\\-\\/…\\p{Script=Han}（）：，。、；“”]+/gu)].map(each => [each.index, each[0]])
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const parent = node.parentElement
    if (node.data.trim() === '' || !isShown(parent) || parent.closest('script, svg, pre, data, .number') !== null) continue
    const isOurs = parent.closest('bdi, code, .chain, .prose, .failure') === null
    const isLabel = parent.closest('th, dt, nav, button, .badge, .way, .tabs, .sorts, .label, summary') !== null
    range.selectNodeContents(node)
    if (isBeyond(parent)) note('beyond its card', parent, node.data)
    for (const [index, word] of wordsIn(node.data, isLabel)) {
      if (!isOurs && !NAME.test(word)) continue
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (lines(range.getClientRects()) > 1) note('broken word', parent, word)
    }
  }
  for (const each of everyShown('data, .number')) {
    range.selectNodeContents(each)
    if (lines(range.getClientRects()) > 1) note('broken number', each, each.textContent)
    if (isBeyond(each)) note('beyond its card', each, each.textContent)
  }
  for (const each of everyShown('.lines i')) {
    const { height, lineHeight } = getComputedStyle(each, '::before')
    if (parseFloat(height) > 1.5 * parseFloat(lineHeight)) note('broken line number', each, height)
  }
  for (const each of everyShown('svg.dates')) {
    const labels = [...each.querySelectorAll('text')].map(text => text.getBoundingClientRect()).sort((a, b) => a.left - b.left)
    if (labels.some(({ left }, at) => at > 0 && left < labels[at - 1].right + 4)) note('labels touch', each, each.textContent)
  }
  const header = lines([...document.querySelectorAll('.top :is(a, input, button)')].filter(isShown).map(each => each.getBoundingClientRect()))
  if (header > 2) note('header of ' + header + ' lines', document.querySelector('.top'))
  return [...faults]
})()`
