import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProofLevel } from '#chain/block.ts'
import type { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { type Generated, serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { failureOf } from '../support/refusal.ts'
import { differences, dumpSqlite } from '../support/stores/dump.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

/** A transaction in the node's JSON, to be altered. */
type ToldTx = {
  publisher: string
  time: string
  delay: string
  referred_tx: string
  actions: { contract: string; action_name: string; data: string }[]
}
type Answer = {
  block?: { number: string; transactions: ToldTx[] }
  blocktx_list?: { block_number: string; tx_list: ToldTx[] }[]
}
/** `position`: in its block; −1: the last one. */
type Forged = { readonly height: number; readonly position: number; readonly alter: (tx: ToldTx) => void }

/** A proxy to the node at `url` that alters one transaction wherever the node's JSON contains it, but not its raw form. */
function openForger(url: string, { height, position, alter }: Forged) {
  const change = (text: string): string => {
    const answer = JSON.parse(text) as Answer
    const { block, blocktx_list } = answer
    const list =
      block?.number === String(height)
        ? block.transactions
        : blocktx_list?.find(({ block_number }) => block_number === String(height))?.tx_list
    const tx = list?.at(position)
    if (tx === undefined) return text
    alter(tx)
    return JSON.stringify(answer)
  }
  return openProxy(url, asked =>
    /^\/get(?:BlockByNumber|BlockTxsByContract)/.test(asked.path)
      ? { type: 'change', to: ({ status, body }) => ({ status, body: change(body) }) }
      : pass,
  )
}

/** The node without the call for raw blocks. */
const openWithoutRaw = () =>
  openProxy(node.url, ({ path }) =>
    path.startsWith('/getRawBlockByNumber/')
      ? { type: 'answer', with: { status: 400, body: '{"code":12,"message":"Not Implemented"}' } }
      : pass,
  )

const END = 120
/** Above the last block of a load that does not follow the head yet. */
const BEFORE = END - 10

let node: Generated
beforeAll(() => {
  node = serveGenerated({ ...small('busy'), holders: 300, voters: 100, blocks: END })
})
afterAll(() => node.stop())

/** Height and position of a transaction with one action, a transfer, in the middle of the chain. */
function transferAt(): readonly [height: number, position: number] {
  for (let height = END - 40; height < BEFORE; height += 1) {
    const { texts } = node.chain.block(height)
    const position = texts.findIndex(text => {
      const [action, ...others] = (JSON.parse(text) as ToldTx).actions
      return action?.action_name === 'transfer' && others.length === 0
    })
    if (position > 0) return [height, position]
  }
  throw new Error('No block has a transfer.')
}

async function readFrom(url: string, prove: ProofLevel, asked: { readonly from: number; readonly to: number }) {
  const client = createNode({ urls: [url], clock: idleClock(), prove })
  try {
    return await Array.fromAsync(client.blocks(asked))
  } finally {
    client.close()
  }
}

// `proof-table.test.ts` alters each field of an ordinary transaction.

test('whole: a forged delayed transaction is refused, and so is the one that executes it', async () => {
  for (const [height, position, field, fields] of [
    [1, -1, 'delay', { delay: '0' }],
    [2, 1, 'referredTx', { referred_tx: '' }],
  ] as const) {
    const forger = await openForger(node.url, { height, position, alter: tx => Object.assign(tx, fields) })
    await expect(readFrom(forger.url, 'whole', { from: 1, to: 3 })).rejects.toThrow(
      `Block ${height}: ${field} of transaction`,
    )
    await forger.close()
  }
})

const levelsOf = async (store: Store) =>
  ((await store.published())?.proved?.ranges ?? []).map(({ from, to, level }) => [from, to, level])

test('whole: no part of a forged block is stored, and loading continues with the honest node’s block', async () => {
  const [height, position] = transferAt()
  const [one, other] = [await temporarySqlite(), await temporarySqlite()]
  const alter = (tx: ToldTx) => void Object.assign(tx, { publisher: 'founder' })
  const forger = await openForger(node.url, { height, position, alter })
  const { kind, message } = (await loadUnpaused(forger.url, one.store, { prove: 'whole' })) as Failure
  await forger.close()
  expect([kind, message]).toEqual(['bad_block', expect.stringContaining(`Block ${height}: publisher of transaction`)])
  expect((await one.store.published())?.height ?? -1).toBeLessThan(height)
  expect(await loadUnpaused(node.url, one.store, { prove: 'whole' })).toBe(END)
  expect(await levelsOf(one.store)).toEqual([
    [0, 0, 'signed'],
    [1, END, 'whole'],
  ])
  // Loaded as far as it is signed, then followed: near the head blocks are proved whole by default.
  node.setHeight(BEFORE)
  await loadUnpaused(node.url, other.store)
  node.setHeight(END)
  await loadUnpaused(node.url, other.store)
  expect(await levelsOf(other.store)).toEqual([
    [0, BEFORE, 'signed'],
    [BEFORE + 1, END, 'whole'],
  ])
  expect(differences(dumpSqlite(one.path), dumpSqlite(other.path))).toEqual([])
  await one.destroy()
  await other.destroy()
})

test('whole: status shows the level; a node without raw blocks is refused, and by default reported once', async () => {
  const poor = await openWithoutRaw()
  await using folder = await cliFolder()
  const load = ['load', '--to', '20', '--node']
  const refused = folder.start([...load, poor.url, '--prove', 'whole'])
  // Another node may appear. The loader retries and names the remedies.
  await refused.logs('cannot be proved')
  await refused.logs('Use a node that returns raw blocks, or --prove signed, which does not need them.')
  refused.kill('SIGKILL')
  await refused.ended
  const proved = await folder.run([...load, node.url, '--prove', 'whole'])
  expect([proved.code, proved.out]).toEqual([0, 'Loaded up to block 20.\n'])
  const follow = ['load', '--to', '40', '--log-format', 'json', '--node', poor.url]
  const signed = await folder.run(follow)
  expect([signed.code, signed.out]).toEqual([0, 'Loaded up to block 40.\n'])
  expect(signed.err.split('The node does not return a raw block').length - 1).toBe(1)
  const { out } = await folder.run(['status'])
  for (const range of ['blocks 1 to 20: whole', 'blocks 21 to 40: signed']) expect(out).toContain(range)
  await poor.close()
})

test('signed: a key that only an action gives to a producer must be proved whole, otherwise it is refused', async () => {
  const [height, position] = transferAt()
  const [first, second] = node.chain.world.producers
  const data = JSON.stringify([first?.account, second?.key, '', '', ''])
  const alter = (tx: ToldTx): void => {
    tx.actions = [{ contract: 'vote_producer.iost', action_name: 'updateProducer', data }]
  }
  for (const from of [height, height - 2]) {
    const asked = { from, to: height + (from === height ? 0 : 2) }
    const forger = await openForger(node.url, { height, position, alter })
    await expect(readFrom(forger.url, 'signed', asked)).rejects.toThrow(`Block ${height}: actions of transaction`)
    await forger.close()
    const poor = await openWithoutRaw()
    const both = await openForger(poor.url, { height, position, alter })
    const { kind, message, help } = await failureOf(readFrom(both.url, 'signed', asked))
    expect([kind, message]).toEqual(['bad_block', expect.stringContaining('cannot be proved')])
    expect(help).toContain('Its actions change the key of a producer.')
    for (const proxy of [both, poor]) await proxy.close()
  }
})
