import { encodeBase58 } from '#chain/base58.ts'
import { type Action, LINKED, type LoadedBlock, type Receipt, type Transaction, type TxReceipt } from '#chain/block.ts'
import { sha3 } from '#chain/hash.ts'
import { writeJson } from '#chain/json.ts'

/** The hash of a text, encoded as a hash of the chain. */
export const hashOf = (text: string): string => encodeBase58(sha3(new TextEncoder().encode(text)))

/** Time of the first block of hand-made chains: 2019-03-01T00:00:00Z, in nanoseconds. */
export const START = 1_551_398_400_000_000_000n
export const SECOND = 1_000_000_000n

/** An action with its arguments. A string is used unchanged. */
export function action(name: string, args: string | readonly unknown[]): Action {
  const slash = name.lastIndexOf('/')
  return {
    contract: name.slice(0, slash),
    actionName: name.slice(slash + 1),
    data: typeof args === 'string' ? args : writeJson(args),
  }
}

export const receipt = (funcName: string, content: string | readonly unknown[]): Receipt => ({
  funcName,
  content: typeof content === 'string' ? content : writeJson(content),
})

export type Made = Partial<Omit<Transaction, 'receipt' | 'body'>> & {
  readonly receipts?: readonly Receipt[]
  readonly receipt?: Partial<TxReceipt>
}

let made = 0

/** A transaction of `alice00`, successful unless specified otherwise. */
export function transaction({ receipts = [], receipt: paid = {}, ...rest }: Made): Transaction {
  made += 1
  const actions = rest.actions ?? []
  const tx = {
    hash: hashOf(`transaction ${made}`),
    time: START,
    expiration: START + 90n * SECOND,
    gasRatio: '1',
    gasLimit: '1000000',
    delay: 0n,
    chainId: 1020,
    signers: [],
    publisher: 'alice00',
    referredTx: '',
    amountLimit: [],
    ...rest,
    actions,
    receipt: {
      gasUsage: 0n,
      ramUsage: [],
      statusCode: 'SUCCESS',
      message: '',
      returns: actions.map(() => '[]'),
      receipts,
      ...paid,
    },
  }
  return { ...tx, body: JSON.stringify({ hash: tx.hash }) }
}

const baseTransaction = (): Transaction =>
  transaction({ publisher: 'base.iost', actions: [action('base.iost/exec', [{ parent: ['key', '0', false] }])] })

/**
 * A chain of blocks one second apart. The first list is the genesis block and must contain its genesis
 * transaction first. The other blocks get a base transaction in front.
 */
export const chainOf = (...lists: readonly (readonly Transaction[])[]): readonly LoadedBlock[] =>
  lists.map((transactions, height) => {
    const all = height === 0 ? transactions : [baseTransaction(), ...transactions]
    return {
      systemCode: [],
      proof: LINKED,
      block: {
        height,
        hash: hashOf(`block ${height}`),
        parentHash: height === 0 ? '' : hashOf(`block ${height - 1}`),
        version: '1',
        txMerkleHash: '',
        txReceiptMerkleHash: '',
        witness: height === 0 ? '0' : 'key',
        time: START + BigInt(height) * SECOND,
        txCount: all.length,
        info: '{}',
        origInfo: '',
        transactions: all,
      },
    }
  })

export function createToken(symbol: string, decimal: number): Receipt {
  const config = Buffer.from(JSON.stringify({ decimal })).toString('base64')
  return receipt('token.iost/create', [symbol, 'admin', 1_000_000_000, config])
}

/** Genesis with system contracts, tokens iost (8 decimals), ram and zero (0), and 1,000 IOST for alice00. */
export const genesis = (): Transaction =>
  transaction({
    publisher: 'deadaddr',
    time: 0n,
    actions: ['token.iost', 'auth.iost', 'gas.iost', 'vote_producer.iost', 'ram.iost'].map(id =>
      action('system.iost/initSetCode', [id, '']),
    ),
    receipts: [
      createToken('iost', 8),
      createToken('ram', 0),
      createToken('zero', 0),
      ...['alice00', 'bob0000', 'carol00'].map(name => receipt('auth.iost/signUp', [name, 'owner', 'active'])),
      receipt('token.iost/issue', ['iost', 'alice00', '1000']),
      receipt('token.iost/issue', ['ram', 'alice00', '100000']),
    ],
  })
