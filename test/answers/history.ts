import { expect, test } from 'bun:test'
import type { Block } from '#chain/block.ts'
import { recordedBlocks, recording } from '#test/support/nodes/recording.ts'
import type { Service } from '#test/support/processes/service.ts'
import { type Data, dataOf, field, parseData, rowsOf, textOf } from './answers.ts'

/** The node's block object as get-block-detail shows it: gas summed, no transactions, `{}` for a null info. */
function expectedBlock(node: Data, block: Block): readonly (readonly [string, Data])[] {
  const gas = block.transactions.reduce((all, tx) => all + tx.receipt.gasUsage, 0n)
  const gasText = `${gas / 100n}.${String(gas % 100n).padStart(2, '0')}`.replace(/\.?0+$/, '')
  return [...(field(node, 'block') as ReadonlyMap<string, Data>)]
    .filter(([name]) => name !== 'transactions' && name !== 'orig_info')
    .map(([name, value]) => {
      if (name === 'gas_usage') return [name, gasText === '' ? '0' : gasText]
      return name === 'info' && value === null ? [name, new Map()] : [name, value]
    })
}

const AT_ONCE = 50
/** One transaction in this many is also requested by itself, which the same code answers. */
const BY_ITSELF = 25

/** Every block and transaction of the recording. `every`: checks each n-th of them. */
export function historySuite(service: () => Service, every = 1): void {
  const requireBlock = async (block: Block, node: Data): Promise<void> => {
    const text = await textOf(service(), 'block-detail', { number: block.height })
    expect(await textOf(service(), 'block-detail', { hash: block.hash })).toBe(text)
    const byNumber = field(parseData(text), 'data')
    const ours = field(byNumber, 'block') as ReadonlyMap<string, Data>
    const sorted = (rows: Iterable<readonly [string, Data]>) =>
      [...rows].filter(([name]) => name !== 'orig_info').sort(([a], [b]) => (a < b ? -1 : 1))
    expect(sorted(ours)).toEqual(sorted(expectedBlock(node, block)))
    expect(field(byNumber, 'status')).toBe('IRREVERSIBLE')
    expect(field(byNumber, 'witness_account')).toBe(block.height === 0 ? '0' : 'producer000')
    const hashes = await dataOf(service(), 'block-tx', { number: block.height })
    expect(field(hashes, 'transactions')).toEqual(block.transactions.map(tx => tx.hash))
    expect(field(hashes, 'total')).toBe(String(block.transactions.length))
  }

  test("every block, by number and by hash, and every transaction in it match the node's own object", async () => {
    let seen = 0
    let asked = 0
    let pending: (readonly [hash: string, expected: Data])[] = []
    const compare = async (): Promise<void> => {
      const hashes = pending.map(([hash]) => hash).join(',')
      const data = await dataOf(service(), 'transactions', { tx_hashes: hashes })
      expect(field(data, 'transactions')).toEqual(pending.map(([, expected]) => expected))
      pending = []
    }
    const { blockText } = await recording()
    for (const { block } of await recordedBlocks()) {
      const node = parseData(blockText(block.height) ?? '')
      if (block.height % every === 0) await requireBlock(block, node)
      const sent = rowsOf(field(node, 'block'), 'transactions')
      for (const [at, tx] of block.transactions.entries()) {
        if (seen++ % every !== 0) continue
        const expected = new Map<string, Data>([
          ['block_number', String(block.height)],
          ['status', 'IRREVERSIBLE'],
          ['transaction', sent[at] ?? null],
        ])
        pending.push([tx.hash, expected])
        if (pending.length === AT_ONCE) await compare()
        if (asked++ % BY_ITSELF === 0)
          expect(await dataOf(service(), 'transaction-detail', { tx_hash: tx.hash })).toEqual(expected)
      }
    }
    await compare()
    expect(seen).toBe(62_589)
  })
}
