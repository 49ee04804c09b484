import { describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { recordedBlocks, recording } from '#test/support/nodes/recording.ts'
import { checkBlock } from '#chain/check.ts'
import { uncut } from '#chain/receipt-hash.ts'
import { decodeBlock } from '#chain/decode.ts'

// A node may write answers whose hashes all match although their meaning differs.

const HEIGHT = 1201
const truth = async (): Promise<string> => (await recording()).blockText(HEIGHT) ?? ''
/** The text with one place changed. The place must exist. */
function altered(text: string, from: string | RegExp, to: string): string {
  const other = text.replace(from, to)
  expect(other).not.toBe(text)
  return other
}
/** The error message for a block; undefined: the block is accepted. */
function refused(text: string): string | undefined {
  try {
    checkBlock(decodeBlock(text), { parentHash: undefined, height: HEIGHT })
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(Failure)
    expect((error as Failure).kind).toBe('bad_block')
    return (error as Failure).message
  }
}

describe('a lying node: halves of surrogate pairs', () => {
  test.each(['\\ud800', '\\uDCC3\\udca9', '\\ude00\\ud83d', '\\ud83dx'])('%s is refused', async half => {
    expect(refused(altered(await truth(), '"message":""', `"message":"${half}"`))).toMatch(
      /^getBlockByNumber: "\\\\u[dD]\w{3}" is not a whole character, and nodes write no other\.$/,
    )
  })
  test('whole characters are accepted, and so are texts that only resemble half of a pair', async () => {
    for (const whole of ['\\ud83d\\ude00', '\\\\ud800', '\\\\\\ud83d\\ude00', '\ufffd'])
      expect(decodeBlock(altered(await truth(), '"message":""', `"message":"${whole}"`)).height).toBe(HEIGHT)
  })
})

describe('a lying node: values that would be hashed as something else', () => {
  test('a referred transaction that is not base58 is refused, not hashed as a missing one', async () => {
    const text = await truth()
    for (const at of [/"referred_tx":""/, /"referred_tx":""(?!.*"referred_tx":"")/])
      expect(refused(altered(text, at, '"referred_tx":"0OIl"'))).toMatch(
        /referred_tx: "0OIl" is not base58\.$/,
      )
  })
  test('a chain id of 32 bits is hashed without an error; a negative chain id is refused', async () => {
    const text = await truth()
    expect(refused(altered(text, '"chain_id":1020', '"chain_id":4294967295'))).toMatch(/base transaction/)
    expect(refused(altered(text, '"chain_id":1020', '"chain_id":-276'))).toMatch(
      /chain_id: -276 is not a number from 0/,
    )
  })
})

describe('a lying node: variations that JSON allows', () => {
  const LIES: readonly (readonly [string, string | RegExp, string])[] = [
    ['a name twice', '"publisher":"base.iost"', '"publisher":"admin", "publisher":"base.iost"'],
    ['a name in escapes', '"publisher":"base.iost"', '"\\u0070ublisher":"base.iost"'],
    ['a payer twice', /"ram_usage":\{("\w+"):("-?\d+")/, '"ram_usage":{$1:"77", $1:$2'],
    ['digits beyond a double', /"gas_limit":3000000\b/, '"gas_limit":3000000.00000000000000001'],
    ['an exponent', /"gas_limit":3000000\b/, '"gas_limit":3e6'],
    ['an unknown member of a list entry', '"func_name":', '"to":"admin", "func_name":'],
  ]
  test.each(LIES)('%s: never kept', async (_, from, to) => {
    const [height, text] = await recordedWith(from)
    const honest = decodeBlock(text).transactions.map(({ body }) => body)
    const block = decodeBlock(altered(text, from, to))
    checkBlock(block, { parentHash: undefined, height })
    expect(block.transactions.map(({ body }) => body)).toEqual(honest)
  })
})

/** A recorded block whose text matches a pattern. */
async function recordedWith(what: string | RegExp): Promise<readonly [number, string]> {
  const chain = await recording()
  for (const { block } of await recordedBlocks()) {
    const text = chain.blockText(block.height) ?? ''
    if (block.height > 0 && text.search(what) >= 0) return [block.height, text]
  }
  throw new Error(`No recorded block has ${what}.`)
}

describe('a lying node: a message that seems cut costs a bounded time', () => {
  const triedFor = (message: string): number => {
    let tried = 0
    const receipt = {
      gasUsage: 0n,
      ramUsage: [],
      statusCode: 'RUNTIME_ERROR',
      message,
      returns: [],
      receipts: [],
    }
    uncut(new Uint8Array(32), receipt, () => {
      tried += 1
      return false
    })
    return tried
  }
  test('every start of a character is tried for a short message, a few for a long one, none for the longest', () => {
    expect(triedFor('short \ufffd')).toBe(51 + 21 * 64 + 5 * 64 * 64)
    expect(triedFor(`${'x'.repeat(500_000)}\ufffd\ufffd\ufffd`)).toBeLessThan(140)
    expect(triedFor('not cut')).toBe(0)
  })
})
