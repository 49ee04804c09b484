import { expect, test } from 'bun:test'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'

const MOST = 10

const blocks = (await recordedBlocks()).map(({ block }) => block)
const { accounts, tokens, producers, contracts } = await oracle()

async function matchesOf(text: string): Promise<readonly ReturnType<typeof named>[]> {
  const { matches, page, size, total } = await ask('search', { text })
  expect([page, size, total]).toEqual([1, matches.length, matches.length])
  return matches
}

const named = (type: string, id: string, exact = true) => ({
  ...{ type, id, exact, block_number: '', hash: '', status: '' },
})
const placed = (type: string, id: string, height: number, hash: string) => ({
  ...{ ...named(type, id), block_number: String(height), hash, status: 'IRREVERSIBLE' },
})
const blockMatch = (height: number, hash: string) => placed('block', String(height), height, hash)

const kinds = await (async () => {
  const ids = new Set([...contracts.keys(), 'system.iost'])
  for (const action of blocks[0]?.transactions[0]?.actions ?? [])
    if (action.actionName === 'initSetCode') ids.add((JSON.parse(action.data) as string[])[0] ?? '')
  const byName = (names: Iterable<string>): readonly string[] => [...names].toSorted((a, b) => (a < b ? -1 : 1))
  return [
    ['account', byName(accounts.keys())],
    ['contract', byName(ids)],
    ['token', byName(tokens.keys())],
    ['producer', byName(producers.keys())],
    ['collection', byName((await plainItems()).collections.keys())],
  ] as const
})()
const userContracts = kinds[1][1].filter(id => id.startsWith('Contract'))

function expectedNames(text: string) {
  const found = kinds.flatMap(([type, names]) =>
    names
      // A collection is only found by its whole name.
      .filter(name => (type === 'collection' ? name === text : name.startsWith(text)))
      .slice(0, MOST)
      .map(name => named(type, name, name === text)),
  )
  return [...found.filter(({ exact }) => exact), ...found.filter(({ exact }) => !exact)]
}

test('prefixes of every name find at most ten names of each kind that begin with it, the exact match first', async () => {
  const texts = new Set<string>()
  for (const name of kinds.flatMap(([, names]) => names))
    for (const end of [1, 2, 3, 5, 8, 13, name.length]) texts.add(name.slice(0, end)).add(`${name}x`)
  expect(texts.size).toBeGreaterThan(500)
  for (const text of texts) {
    const isHeight = /^[0-9]+$/.test(text) && Number(text) < blocks.length
    const found = await matchesOf(text)
    expect([text, found.filter(({ type }) => type !== 'block')]).toEqual([text, expectedNames(text)])
    expect(found.filter(({ type }) => type === 'block').length).toBe(isHeight ? 1 : 0)
  }
})

test('blocks are found by number and hash, and transactions by hash, including base transactions', async () => {
  for (const { height, hash, transactions } of blocks.filter(({ height }) => height % 97 === 0 || height === 4851)) {
    expect(await matchesOf(hash)).toEqual([blockMatch(height, hash)])
    const ofNumber = await matchesOf(String(height))
    expect(ofNumber.filter(({ type }) => type === 'block')).toEqual([blockMatch(height, hash)])
    for (const { hash } of [...transactions.slice(0, 2), ...transactions.slice(-1)]) {
      const [found, ...others] = await matchesOf(hash)
      expect(found).toEqual(placed('transaction', hash, height, hash))
      // The hash of a transaction that deployed a contract is also that contract's id.
      expect(others.every(({ type, id }) => type === 'contract' && id === `Contract${hash}`)).toBe(true)
    }
  }
  expect(await matchesOf(String(blocks.length))).toEqual([])
  expect(await matchesOf('9'.repeat(19))).toEqual([])
})

test('contracts are found without their prefix, and by the beginning of their id with it', async () => {
  expect(userContracts.length).toBeGreaterThan(5)
  for (const id of userContracts) {
    const bare = await matchesOf(id.slice('Contract'.length))
    expect(bare.filter(({ type }) => type === 'contract')).toEqual([named('contract', id)])
    expect(await matchesOf(id)).toEqual([named('contract', id)])
  }
  expect(await matchesOf('Contract')).toEqual(userContracts.slice(0, MOST).map(id => named('contract', id, false)))
})

test('a producer that is no longer registered is only found as an account', async () => {
  expect((await matchesOf('prod_11')).map(({ type, exact }) => [type, exact])).toEqual([['account', true]])
})

test.each([
  // Wildcards and other languages.
  ...['', ' ', '%', 'busy%', '*', 'busy*', 'busyhu?', 'b.syhub', '[a-z]', "' OR 1=1 --", '"', '\\', 'BUSYHUB'],
  ...[' busyhub', 'busyhub ', 'ｂusyhub', 'busyhub\u0000', '\u{10ffff}', '\ufffd', '账户', '😀', 'é'],
  ...['-1', '1e3', '0x', 'a'.repeat(5_000), '1'.repeat(44), 'true'],
  // Names that are special in JavaScript.
  ...['__proto__', 'constructor', '12345', '_', 'null', '1e5'],
])('only names that begin with %j match it', async text => {
  const found = (await matchesOf(text)).filter(({ type }) => type !== 'block')
  expect(found).toEqual(text === '' ? [] : expectedNames(text))
})

test('hashes and contract ids are found by their beginning, and in the shortened form of lists', async () => {
  for (const { height, hash: ofBlock, transactions } of blocks.filter(({ height }) => height % 800 === 0))
    for (const [type, hash] of [
      ['block', ofBlock],
      ['transaction', transactions[0]?.hash ?? ''],
      ['transaction', transactions.at(-1)?.hash ?? ''],
    ] as const) {
      const found = placed(type, type === 'block' ? String(height) : hash, height, hash)
      const [begin, end] = [hash.slice(0, 10), hash.slice(-6)]
      for (const text of [begin, `${begin}…`]) expect(await matchesOf(text)).toEqual([{ ...found, exact: false }])
      for (const text of [`${begin}…${end}`, `${begin}...${end}`, `${hash.slice(0, 20)}..${end}`])
        expect([text, await matchesOf(text)]).toEqual([text, [found]])
      for (const text of [hash.slice(0, 9), `${begin}…${end}1`, ...['.', '....', '……'].map(of => begin + of + end)])
        expect([text, await matchesOf(text)]).toEqual([text, []])
    }
  const [id = ''] = userContracts
  expect(await matchesOf(`${id.slice(0, 10)}…${id.slice(-6)}`)).toEqual([named('contract', id)])
})

test('tokens are found by their full name if no name begins with the text', async () => {
  const full = [...tokens].flatMap(([symbol, fields]): readonly (readonly [string, string])[] => {
    const text = fields.get('fullName') ?? ''
    return text === '' ? [] : [[symbol, text.startsWith('"') ? JSON.parse(text) : text]]
  })
  const others = full.filter(([symbol, name]) => !symbol.startsWith(name.toLowerCase()))
  expect(others.length).toBeGreaterThan(0)
  for (const [symbol, name] of others)
    for (const text of [name, name.toUpperCase(), name.slice(0, Math.max(3, name.length - 2))])
      if (expectedNames(text).length === 0)
        expect([text, (await matchesOf(text)).map(({ id }) => id)]).toEqual([text, expect.arrayContaining([symbol])])
})

test('the key that signs blocks finds its producer', async () => {
  let found = 0
  for (const name of producers.keys()) {
    const { pubkey } = await ask('get-producer-detail', { producer: name })
    // If several producers registered the same key, the last of them signs with it.
    for (const { type, id, exact } of await matchesOf(String(pubkey))) {
      if (type !== 'producer') continue
      expect([exact, (await ask('get-producer-detail', { producer: id })).pubkey]).toEqual([true, pubkey])
      found += 1
    }
  }
  expect(found).toBeGreaterThan(0)
})

test('an address that begins with 0x is found in any case', async () => {
  const addresses = [...accounts.keys()].filter(name => name.startsWith('0x'))
  expect(addresses.length).toBeGreaterThan(0)
  for (const address of addresses) {
    const mixed = [...address].map((letter, at) => (at > 1 && at % 2 === 0 ? letter.toUpperCase() : letter)).join('')
    for (const text of [mixed, `0x${address.slice(2).toUpperCase()}`, address.toUpperCase()])
      expect(await matchesOf(text)).toEqual([named('account', address)])
  }
})
