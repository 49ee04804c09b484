import { decodeTransaction } from '#chain/decode-transaction.ts'
import { Failure } from '#failure/failure.ts'
import type { BlockDoc } from '#indices/block.ts'
import { DERIVATION } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { StoreDifference } from './maintain-port.ts'
import type { Identity } from './published.ts'

/** Throws Failure('conflict') when a loader with the identity `given` must not continue a store with `stored`. */
export function checkIdentity(store: string, stored: Identity | undefined, given: Identity): void {
  if (stored === undefined) return
  for (const [of, { what, help }] of Object.entries(PARTS) as [keyof Identity, Part][])
    if (stored[of] !== given[of])
      throw new Failure('conflict', `${store} has ${what} ${stored[of]}, but the loader needs ${given[of]}.`, { help })
}

/** Reasons to migrate a store whose documents were derived by other rules; [] when no migration is needed. */
export const derivationReasons = (derivation: number): readonly string[] =>
  derivation === DERIVATION ? [] : [`documents of derivation ${derivation}; expected ${DERIVATION}`]

/** The remedy for documents that were derived by other rules. */
export const OTHER_DERIVATION =
  "Run 'iostlens indices migrate' with this version, or use the version that loaded the store."

/** Differences that `check` reports for documents that this version derives differently (a new list's rows). */
export const derivationDifferences = (stored: Pick<Identity, 'derivation'> | undefined): readonly StoreDifference[] =>
  stored === undefined || stored.derivation === DERIVATION
    ? []
    : [
        {
          name: 'documents',
          problem: 'different',
          detail: `derivation version ${stored.derivation}; expected ${DERIVATION}`,
        },
      ]

type Part = { readonly what: string; readonly help: string }
const ELSEWHERE = 'Load this chain into another store, or set --node to a node of the stored chain.'
/** In the order of comparison. */
const PARTS: { readonly [P in keyof Identity]: Part } = {
  chainId: { what: 'chain id', help: ELSEWHERE },
  genesis: { what: 'genesis block', help: ELSEWHERE },
  derivation: { what: 'documents of derivation version', help: OTHER_DERIVATION },
}

/**
 * Identity of the stored chain, taken from its first documents when the record is lost: every transaction has
 * the chain id, every block has the hash of the previous one.
 */
export function rebuildIdentity(store: string, { first, second, transaction }: FirstDocuments): Identity {
  const genesis = first?.hash ?? second?.parent_hash
  if (genesis === undefined || transaction === undefined)
    throw new Failure('damaged', `${store} has lost the record of its chain and its first block.`, {
      help: "Run 'iostlens load' with another --store.",
    })
  return { genesis, chainId: decodeTransaction(transaction.body).chainId, derivation: DERIVATION }
}

type FirstDocuments = {
  readonly first: BlockDoc | undefined
  readonly second: BlockDoc | undefined
  readonly transaction: TransactionDoc | undefined
}
