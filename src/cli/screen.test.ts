import { expect, test } from 'bun:test'
import { createScreen } from './screen.ts'

const screenOn = (isTerminal: boolean) => {
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

test('createScreen: a line goes above the bar, which is cut to the width', () => {
  const { screen, written } = screenOn(true)
  screen.bar('half of everything is done')
  screen.line('news')
  screen.bar('all')
  screen.keepBar()
  screen.line('end')
  expect(written()).toBe(`${CLEAR}half of everything ${CLEAR}news\nhalf of everything ${CLEAR}all\nend\n`)
})

test('createScreen: an empty bar takes it away', () => {
  const { screen, written } = screenOn(true)
  screen.bar('')
  screen.bar('x')
  screen.bar('')
  screen.line('end')
  expect(written()).toBe(`${CLEAR}x${CLEAR}end\n`)
})

test('createScreen: without a terminal there are lines only', () => {
  const { screen, written } = screenOn(false)
  screen.bar('x')
  screen.keepBar()
  screen.line('news')
  expect(written()).toBe('news\n')
})
