import { expect, test } from 'bun:test'
import { createScreen, lineWriter } from './stderr.ts'

function screenOn(isTerminal: boolean) {
  let written = ''
  const screen = createScreen({
    write: text => {
      written += text
    },
    isTerminal,
    columns: () => 20,
  })
  return { screen, written: () => written }
}
const CLEAR = '\r\u001b[2K'

test('createScreen: a line is printed above the bar, which is cut to the width', () => {
  const { screen, written } = screenOn(true)
  screen.bar('half of everything is done')
  screen.line('news')
  screen.bar('all')
  screen.keepBar()
  screen.line('end')
  expect(written()).toBe(`${CLEAR}half of everything ${CLEAR}news\nhalf of everything ${CLEAR}all\nend\n`)
})

test('createScreen: an empty bar text removes the bar', () => {
  const { screen, written } = screenOn(true)
  screen.bar('')
  screen.bar('x')
  screen.bar('')
  screen.line('end')
  expect(written()).toBe(`${CLEAR}x${CLEAR}end\n`)
})

test('createScreen: without a terminal only lines are printed', () => {
  const { screen, written } = screenOn(false)
  screen.bar('x')
  screen.keepBar()
  screen.line('news')
  expect(written()).toBe('news\n')
})

const never = new Promise<void>(() => {})

function setUp(maxWaiting: number) {
  const sent: string[] = []
  const done: (() => void)[] = []
  const soon: (() => void)[] = []
  const writer = lineWriter(
    (text, over) => {
      sent.push(text)
      done.push(over)
    },
    { maxWaiting, dropped: count => `${count} lost\n`, soon: work => soon.push(work) },
  )
  return { writer, sent, goOn: () => done.shift()?.(), endTurn: () => soon.shift()?.() }
}

test('lineWriter: lines of one turn, and lines during a write, are written together in order', () => {
  const { writer, sent, goOn, endTurn } = setUp(100)
  for (const line of ['a\n', 'b\n', '', 'c\n']) writer.write(line)
  expect(sent).toEqual([])
  endTurn()
  for (const line of ['d\n', 'e\n']) writer.write(line)
  expect(sent).toEqual(['a\nb\nc\n'])
  goOn()
  goOn()
  writer.write('f\n')
  endTurn()
  expect(sent).toEqual(['a\nb\nc\n', 'd\ne\n', 'f\n'])
})

test('lineWriter: a stalled reader costs no more memory than the limit, and lost lines are counted', () => {
  const { writer, sent, goOn, endTurn } = setUp(4)
  writer.write('longer than the limit\n')
  endTurn()
  for (let line = 0; line < 1_000; line++) writer.write('x\n')
  goOn()
  goOn()
  writer.write('y\n')
  endTurn()
  expect(sent).toEqual(['longer than the limit\n', 'x\nx\n998 lost\n', 'y\n'])
})

test('takeRest: lines are returned that the end of the process would lose', () => {
  const { writer, sent, endTurn } = setUp(4)
  for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line)
  expect(writer.takeRest()).toBe('a\nb\n1 lost\n')
  endTurn()
  expect([writer.takeRest(), sent]).toEqual(['', []])
})

test('written: waits for unfinished lines, but no longer than the limit', async () => {
  const { writer, goOn, endTurn } = setUp(4)
  await writer.written(never)
  writer.write('x\n')
  const over = writer.written(never)
  endTurn()
  expect(Bun.peek.status(over)).toBe('pending')
  await writer.written(Promise.resolve())
  goOn()
  await over
})
