import { expect, setDefaultTimeout, test } from 'bun:test'
import { shareBrowser } from '../support/browser/browser.ts'
import { servedBehind } from '../support/browser/served.ts'
import type { Service } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '../support/stores/hand-made.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { LAYOUT_FAULTS } from './layout-faults.ts'
import { inChinese, samplePaths } from './samples.ts'
import { explorerOn } from './served.ts'

// A test that hangs still ends.
setDefaultTimeout(600_000)

const browser = await shareBrowser()

/** A small and a usual phone, a large one, a tablet both ways with a size between, and two screens. */
const WIDTHS = [360, 390, 600, 768, 900, 1_024, 1_280] as const

/** The faults of pages at every width, each with the places where it is seen. */
async function faultsOf(service: Service, paths: readonly string[]): Promise<readonly string[]> {
  await using served = servedBehind('/', service)
  const page = await browser.open({ scheme: 'light' })
  const seen = new Map<string, string>()
  for (const path of paths) {
    await page.go(`${served.url}${path.slice(1)}`)
    for (const width of WIDTHS) {
      await page.resize(width)
      for (const fault of await page.run<readonly string[]>(LAYOUT_FAULTS))
        seen.set(fault, `${seen.get(fault) ?? ''} ${path}@${width}`)
    }
  }
  await page.close()
  return [...seen].map(([fault, places]) => `${fault} at${places}`)
}

/** Pages of a kind that are opened, since they differ little in their layout. */
const EACH = { en: 3, zh: 1 } as const

/** Some pages of each kind: with the same first part and the same names of parameters. */
function choosePages(paths: readonly string[], each: number): readonly string[] {
  const opened = new Map<string, number>()
  return paths.filter(path => {
    const kind = path.replace(/(?<=^\/\w+\/)[^/?]+/, '').replaceAll(/=[^&]*/g, '')
    const count = opened.get(kind) ?? 0
    opened.set(kind, count + 1)
    return count < each
  })
}

/** Every so many transactions of the samples have another kind of end. */
const EVERY = { en: 6, zh: 12 } as const

test('layout: at every width no page is wider than the window, and nothing is cut or broken', async () => {
  const explorer = await explorerOn()
  const all = await samplePaths(explorer)
  const isTransaction = (path: string): boolean => path.startsWith('/tx/')
  const paths = (lang: keyof typeof EACH) => [
    ...choosePages(
      all.filter(path => !isTransaction(path)),
      EACH[lang],
    ),
    ...all.filter(isTransaction).filter((_path, at) => at % EVERY[lang] === 0),
    ...['/token/maxcap', '/account/nobody00', '/search?text=nothing', '/block/99999999'],
  ]
  const both = [...paths('en'), ...inChinese(paths('zh'))]
  expect(await faultsOf(explorer, [...both, '/status?lang=en', '/status?lang=zh'])).toEqual([])
})

/** An account with the longest name. */
const HEX = `0x${'d4'.repeat(20)}`
/** Names of eleven characters, the longest that people choose. */
const LONG = 'mwmwmwmwmwm'

test('layout: rows with the longest names, and with failures of every kind, fit as well', async () => {
  const { store, destroy } = await temporarySqlite()
  const told = (made: Parameters<typeof transaction>[0]) => {
    const tx = transaction(made)
    return { ...tx, body: nodeText(tx) }
  }
  const codes = ['BALANCE_NOT_ENOUGH', 'RUNTIME_ERROR', 'DUPLICATE_SET_CODE', 'GAS_RUN_OUT', 'SUCCESS']
  const first = genesis()
  const moved = (from: string, to: string) => ['iost', from, to, '123.12345678', 'memo']
  const blocks = chainOf(
    [{ ...first, body: nodeText(first) }],
    [told({ receipts: [HEX, LONG].map(name => receipt('auth.iost/signUp', [name, 'owner', 'active'])) })],
    [HEX, LONG].flatMap((publisher, at) =>
      codes.map(statusCode =>
        told({
          publisher,
          actions: [action('token.iost/transfer', moved(publisher, at === 0 ? LONG : HEX))],
          receipt: { statusCode },
        }),
      ),
    ),
  )
  await commitRuns(store, [blocks], { lib: 2 })
  const paths = ['/', '/blocks', '/transactions', `/account/${HEX}`, `/account/${LONG}`, '/contract/token.iost']
  expect(await faultsOf(await explorerOn({ isKeyless: true }, store), [...paths, ...inChinese(paths)])).toEqual([])
  await destroy()
})
