import { describe, expect, test } from 'bun:test'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'

type Match = {
  readonly type: string
  readonly id: string
  readonly exact: boolean
  readonly block_number: string
  readonly hash: string
  readonly status: string
}
const MOST = 10

async function matchesOf(text: string): Promise<Match[]> {
  const { matches, page, size, total } = await ask('search', { text })
  expect([page, size, total]).toEqual([1, matches.length, matches.length])
  return matches
}
const named = (type: string, id: string, exact: boolean): Match => ({
  type,
  id,
  exact,
  block_number: '',
  hash: '',
  status: '',
})
const blockMatch = (height: number, hash: string): Match => ({
  type: 'block',
  id: String(height),
  exact: true,
  block_number: String(height),
  hash,
  status: 'IRREVERSIBLE',
})

const byName = (names: Iterable<string>): readonly string[] => [...names].toSorted((a, b) => (a < b ? -1 : 1))

/** Names of each kind, read from the contracts' storage. */
async function kinds() {
  const { accounts, tokens, producers, contracts } = await oracle()
  const ids = new Set([...contracts.keys(), 'system.iost'])
  for (const action of (await recordedBlocks())[0]?.block.transactions[0]?.actions ?? [])
    if (action.actionName === 'initSetCode') ids.add((JSON.parse(action.data) as string[])[0] ?? '')
  return [
    ['account', byName(accounts.keys())],
    ['contract', byName(ids)],
    ['token', byName(tokens.keys())],
    ['producer', byName(producers.keys())],
    ['collection', byName((await plainItems()).collections.keys())],
  ] as const
}

function expectedNames(all: Awaited<ReturnType<typeof kinds>>, text: string): Match[] {
  const found = all.flatMap(([type, names]) =>
    names
      // A collection is only found by its whole name.
      .filter(name => (type === 'collection' ? name === text : name.startsWith(text)))
      .slice(0, MOST)
      .map(name => named(type, name, name === text)),
  )
  return [...found.filter(({ exact }) => exact), ...found.filter(({ exact }) => !exact)]
}

describe('search', () => {
  test('search: every prefix of every name finds the names that begin with it, the exact match first', async () => {
    const all = await kinds()
    const texts = new Set<string>()
    for (const [, names] of all)
      for (const name of names) for (let end = 1; end <= Math.min(name.length, 14); end++) texts.add(name.slice(0, end))
    for (const [, names] of all) for (const name of names) texts.add(name).add(`${name}x`).add(`${name}_`)
    expect(texts.size).toBeGreaterThan(500)
    const heights = (await recordedBlocks()).length
    for (const text of texts) {
      const isHeight = /^[0-9]+$/.test(text) && Number(text) < heights
      const found = await matchesOf(text)
      expect([text, found.filter(({ type }) => type !== 'block')]).toEqual([text, expectedNames(all, text)])
      expect(found.filter(({ type }) => type === 'block').length).toBe(isHeight ? 1 : 0)
    }
  })

  test('search: returns at most ten matches of a kind', async () => {
    const all = await kinds()
    const [, accounts] = all[0]
    const letters = new Map<string, number>()
    for (const name of accounts) letters.set(name.slice(0, 1), (letters.get(name.slice(0, 1)) ?? 0) + 1)
    const common = [...letters].filter(([, count]) => count > MOST)
    expect(common.length).toBeGreaterThan(0)
    for (const [letter] of common) {
      const found = await matchesOf(letter)
      expect(found.filter(({ type }) => type === 'account').length).toBe(MOST)
    }
  })

  test('search: finds blocks by number and hash, and transactions by hash, including base transactions', async () => {
    const blocks = await recordedBlocks()
    for (const { block } of blocks.filter((_, at) => at % 97 === 0 || at === blocks.length - 1)) {
      expect(await matchesOf(block.hash)).toEqual([blockMatch(block.height, block.hash)])
      const ofNumber = await matchesOf(String(block.height))
      expect(ofNumber.filter(({ type }) => type === 'block')).toEqual([blockMatch(block.height, block.hash)])
      for (const { hash } of [...block.transactions.slice(0, 2), ...block.transactions.slice(-1)]) {
        const [found, ...others] = await matchesOf(hash)
        expect(found).toEqual({
          type: 'transaction',
          id: hash,
          exact: true,
          block_number: String(block.height),
          hash,
          status: 'IRREVERSIBLE',
        })
        // The hash of a transaction that deployed a contract is also that contract's id.
        expect(others.every(({ type, id }) => type === 'contract' && id === `Contract${hash}`)).toBe(true)
      }
    }
    expect(await matchesOf(String(blocks.length))).toEqual([])
    expect(await matchesOf('9'.repeat(19))).toEqual([])
  })

  test('search: finds contracts without their prefix, and by the beginning of their id with it', async () => {
    const ids = (await kinds())[1][1].filter(id => id.startsWith('Contract'))
    expect(ids.length).toBeGreaterThan(5)
    for (const id of ids) {
      const bare = await matchesOf(id.slice('Contract'.length))
      expect(bare.filter(({ type }) => type === 'contract')).toEqual([named('contract', id, true)])
      expect(await matchesOf(id)).toEqual([named('contract', id, true)])
    }
    expect(await matchesOf('Contract')).toEqual(ids.slice(0, MOST).map(id => named('contract', id, false)))
  })

  test('search: a producer that is no longer registered is only found as an account', async () => {
    expect((await matchesOf('prod_11')).map(({ type, exact }) => [type, exact])).toEqual([['account', true]])
  })

  test('search: texts that begin no name match nothing, including wildcards and other languages', async () => {
    const texts = [
      '',
      ' ',
      '%',
      'busy%',
      '*',
      'busy*',
      'busyhu?',
      'b.syhub',
      '[a-z]',
      "' OR 1=1 --",
      '"',
      '\\',
      'BUSYHUB',
      ' busyhub',
      'busyhub ',
      'ｂusyhub',
      'busyhub\u0000',
      '\u{10ffff}',
      '\ufffd',
      '账户',
      '😀',
      'é',
      '-1',
      '1e3',
      '0x',
      'a'.repeat(5_000),
      '1'.repeat(44),
      'true',
    ]
    for (const text of texts) {
      const all = await kinds()
      expect([text, await matchesOf(text)]).toEqual([text, text === '' ? [] : expectedNames(all, text)])
    }
  })

  test('search: finds hashes and contract ids by their beginning, and in the shortened form of lists', async () => {
    const blocks = await recordedBlocks()
    for (const { block } of blocks.filter((_, at) => at % 400 === 0)) {
      const [{ hash: base = '' } = {}] = block.transactions
      for (const [hash, type] of [
        [block.hash, 'block'],
        [base, 'transaction'],
        [block.transactions.at(-1)?.hash ?? base, 'transaction'],
      ] as const) {
        const id = type === 'block' ? String(block.height) : hash
        const found = {
          ...named(type, id, true),
          block_number: String(block.height),
          hash,
          status: 'IRREVERSIBLE',
        }
        const [begin, end] = [hash.slice(0, 10), hash.slice(-6)]
        expect(await matchesOf(begin)).toEqual([{ ...found, exact: false }])
        for (const text of [`${begin}…${end}`, `${begin}...${end}`, `${hash.slice(0, 20)}..${end}`])
          expect([text, await matchesOf(text)]).toEqual([text, [found]])
        expect(await matchesOf(`${begin}…`)).toEqual([{ ...found, exact: false }])
        expect(await matchesOf(`${begin}…${end}1`)).toEqual([])
        expect(await matchesOf(hash.slice(0, 9))).toEqual([])
      }
    }
    const [id = ''] = (await kinds())[1][1].filter(each => each.startsWith('Contract'))
    expect(await matchesOf(`${id.slice(0, 10)}…${id.slice(-6)}`)).toEqual([named('contract', id, true)])
  })

  test('search: finds tokens by their full name if no name begins with the text', async () => {
    const { tokens } = await oracle()
    const full = [...tokens].flatMap(([symbol, fields]) => {
      const text = fields.get('fullName') ?? ''
      return text === '' ? [] : [[symbol, JSON.parse(text.startsWith('"') ? text : JSON.stringify(text))] as const]
    })
    const others = full.filter(([symbol, name]) => !symbol.startsWith(name.toLowerCase()))
    expect(others.length).toBeGreaterThan(0)
    for (const [symbol, name] of others)
      for (const text of [name, name.toUpperCase(), name.slice(0, Math.max(3, name.length - 2))]) {
        const all = expectedNames(await kinds(), text)
        if (all.length === 0)
          expect([text, (await matchesOf(text)).map(({ id }) => id)]).toEqual([text, expect.arrayContaining([symbol])])
      }
  })

  test('search: the key that signs blocks finds its producer', async () => {
    const { producers } = await oracle()
    let found = 0
    for (const name of producers.keys()) {
      const { pubkey } = await ask('get-producer-detail', { producer: name })
      const matches = await matchesOf(String(pubkey))
      // If several producers registered the same key, the last of them signs with it.
      for (const { type, id, exact } of matches.filter(each => each.type === 'producer')) {
        expect([type, exact, (await ask('get-producer-detail', { producer: id })).pubkey]).toEqual([
          'producer',
          true,
          pubkey,
        ])
        found += 1
      }
    }
    expect(found).toBeGreaterThan(0)
  })

  test('search: an address that begins with 0x is found in any case', async () => {
    const addresses = [...(await oracle()).accounts.keys()].filter(name => name.startsWith('0x'))
    expect(addresses.length).toBeGreaterThan(0)
    for (const address of addresses) {
      const mixed = [...address].map((letter, at) => (at > 1 && at % 2 === 0 ? letter.toUpperCase() : letter)).join('')
      for (const text of [mixed, `0x${address.slice(2).toUpperCase()}`, address.toUpperCase()])
        expect(await matchesOf(text)).toEqual([named('account', address, true)])
    }
  })

  test('search: the two ends of a hash may have …, ... or .. between them', async () => {
    const { block } = (await recordedBlocks())[1_000] ?? {}
    const hash = block?.hash ?? ''
    for (const between of ['…', '...', '..'])
      expect(await matchesOf(`${hash.slice(0, 12)}${between}${hash.slice(-6)}`)).toEqual([blockMatch(1_000, hash)])
    for (const between of ['.', '....', '……'])
      expect(await matchesOf(`${hash.slice(0, 12)}${between}${hash.slice(-6)}`)).toEqual([])
  })

  test('search: names that are special in JavaScript are found like other names', async () => {
    for (const text of ['__proto__', 'constructor', '12345', '_', 'null', '1e5'])
      expect([text, (await matchesOf(text)).filter(({ type }) => type !== 'block')]).toEqual([
        text,
        expectedNames(await kinds(), text),
      ])
  })
})
