import { expect, test } from 'bun:test'
import { createLog } from './log.ts'

function logged(format: 'plain' | 'json') {
  const lines: string[] = []
  const now = () => new Date('2026-11-21T08:00:00.000Z')
  const log = createLog({ level: 'info', format, write: line => lines.push(line), now })
  log('debug', 'Not shown.')
  log('info', 'Loaded blocks.', { height: 5, node: 'http://user:word@n/', reason: 'two words\nand "more"' })
  log('info', 'Opened the store.', { store: 'http://user:w@rd@es:9200/main' })
  log('error', 'Refused a call.', { path: '/api/?apikey=il_secret&module=base' })
  return lines
}

test('createLog: each plain entry is one line without secrets', () => {
  expect(logged('plain')).toEqual([
    '2026-11-21T08:00:00.000Z info  Loaded blocks. height=5 node=http://***@n/ reason="two words\\nand \\"more\\""',
    '2026-11-21T08:00:00.000Z info  Opened the store. store=http://***@es:9200/main',
    '2026-11-21T08:00:00.000Z error Refused a call. path="/api/?apikey=***&module=base"',
  ])
})

test('createLog: JSON lines have the same content', () => {
  const [first, ...others] = logged('json').map(line => JSON.parse(line))
  expect(first).toEqual({
    ...{ time: '2026-11-21T08:00:00.000Z', level: 'info', message: 'Loaded blocks.' },
    ...{ height: 5, node: 'http://***@n/', reason: 'two words\nand "more"' },
  })
  expect(others).toMatchObject([{ store: 'http://***@es:9200/main' }, { path: '/api/?apikey=***&module=base' }])
})
