import { expect, test } from 'bun:test'
import { lineWriter } from './line-writer.ts'

const never = new Promise<void>(() => {})

const setUp = (maxWaiting: number) => {
  const sent: string[] = []
  const done: (() => void)[] = []
  const writer = lineWriter(
    (text, over) => {
      sent.push(text)
      done.push(over)
    },
    { maxWaiting, dropped: count => `${count} lost\n` },
  )
  return { writer, sent, goOn: () => done.shift()?.() }
}

test('lineWriter: what comes while a piece is under way goes out together, in order', () => {
  const { writer, sent, goOn } = setUp(100)
  for (const line of ['a\n', 'b\n', '', 'c\n']) writer.write(line)
  expect(sent).toEqual(['a\n'])
  goOn()
  goOn()
  writer.write('d\n')
  expect(sent).toEqual(['a\n', 'b\nc\n', 'd\n'])
})

test('lineWriter: a reader that stalls costs no more than the limit; what was lost is counted', () => {
  const { writer, sent, goOn } = setUp(4)
  for (let line = 0; line < 1_000; line++) writer.write('x\n')
  goOn()
  goOn()
  writer.write('y\n')
  expect(sent).toEqual(['x\n', 'x\nx\n997 lost\n', 'y\n'])
})

test('written: waits for what is under way, or no longer than it is told to', async () => {
  const { writer, goOn } = setUp(4)
  await writer.written(never)
  writer.write('x\n')
  const over = writer.written(never)
  expect(Bun.peek.status(over)).toBe('pending')
  await writer.written(Promise.resolve())
  goOn()
  await over
})
