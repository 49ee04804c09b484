import { expect, test } from 'bun:test'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type HandClock, handClock } from '#test/support/clocks/hand-clock.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { watch } from './watched.ts'

function parse(text: string): string {
  if (text === '') throw new TypeError('the text is empty')
  return text
}

const MINUTE = 60_000

/** Advances the clock by a minute and waits until the file was read. */
async function nextLook(clock: HandClock): Promise<void> {
  await clock.awaited(MINUTE)
  await clock.pass(MINUTE)
  await clock.awaited(MINUTE)
}

const folder = testFolder()

test('watch: a file is read again every minute, and the last valid value is kept', async () => {
  const path = join(folder, 'prices.json')
  const clock = handClock()
  const lines: unknown[] = []
  const write = async (text: string, time: number): Promise<void> => {
    await writeFile(path, text)
    await utimes(path, time, time)
  }
  await write('one', 1)
  const log = (...line: unknown[]): void => void lines.push(line)
  const watched = await watch({ source: { path }, what: 'Prices', parse, log, clock })
  expect(watched.get()).toBe('one')
  await write('two', 2)
  expect(watched.get()).toBe('one')
  await nextLook(clock)
  expect(watched.get()).toBe('two')
  await write('', 3)
  await nextLook(clock)
  expect(watched.get()).toBe('two')
  expect(lines).toEqual([
    [
      'warn',
      'Prices could not be read; the last ones read remain in use.',
      { source: path, reason: 'the text is empty' },
    ],
  ])
  watched.close()
  await clock.awaited(MINUTE, 0)
})

test('watch: a URL that does not answer at the start is retried', async () => {
  const lines: unknown[] = []
  const log = (_level: string, line: string): void => void lines.push(line)
  const source = { url: 'http://127.0.0.1:1/prices.json' }
  const watched = await watch({ source, what: 'Prices', parse, log, clock: handClock() })
  expect(watched.get()).toBeUndefined()
  expect(lines).toEqual(['Prices could not be read; the next attempt is in a minute.'])
  watched.close()
})

test('watch: an unreadable file at the start is a usage error', async () => {
  const source = { path: '/nowhere/prices.json' }
  const watching = watch({ source, what: 'Prices', parse, log: () => undefined, clock: handClock() })
  await expect(watching).rejects.toThrow('Prices cannot be read from /nowhere/prices.json: ENOENT')
})
