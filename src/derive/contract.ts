import { CONTRACT_AT, parseDeployedContract } from '#chain/contract-code.ts'
import { findNestedContract } from '#chain/effects.ts'
import { tryParseExact } from '#chain/json.ts'
import { isContractId, isSystemContract, toContractId } from '#chain/names.ts'
import { type ContractDoc, contracts } from '#indices/contract.ts'
import { findText, parseActionArguments } from './receipt.ts'
import type { Scope, TxScope } from './scope.ts'

/** Owner of every contract that genesis deploys (go-iost `vm/native/native.go` AdminAccount). */
const SYSTEM_OWNER = 'admin'

/** A native contract that exists from the start without a deployment. */
const SYSTEM_CONTRACT = 'system.iost'

/**
 * Applies a successful action of system.iost that deploys or updates code; none of them emits a receipt.
 * Returns the id of a contract that the action created.
 */
export function applyCode(at: TxScope, name: string, position: number): string | undefined {
  const args = parseActionArguments(at.tx.actions[position])
  if (args === undefined) return undefined
  const first = findText(args, 0) ?? ''
  const given = parseDeployedContract(findText(args, CONTRACT_AT.get(name) ?? args.length) ?? '')
  const code = given?.code ? { ...given, code_at: [at.scope.block.height, at.position, position] as const } : given
  switch (name) {
    case 'setCode':
      return deploy(at, { id: getNewId(at, position), code, owner: at.tx.publisher })
    case 'initSetCode':
      return deploy(at, { id: first, code: code ?? findNodeCode(at.scope, first), owner: SYSTEM_OWNER })
    case 'updateCode': {
      if (code !== undefined) update(at.scope, code.id, code)
      return undefined
    }
    case 'updateNativeCode': {
      // The node has the code of each version. Without a version, the code is the third argument and names its contract.
      const version = findText(args, 1) ?? ''
      if (version === '') update(at.scope, code?.id ?? '', code)
      else {
        const own = findNodeCode(at.scope, first)
        update(at.scope, first, own && { ...own, version })
      }
      return undefined
    }
    default:
      return undefined
  }
}

/** Applies a deployment by another contract; the publisher owns it. Returns the action's position and the id. */
export function applyNestedCode(at: TxScope): readonly [position: number, id: string] | undefined {
  const within = findNestedContract(at.tx)
  if (within === undefined) return undefined
  const { id, position } = within
  const made = deploy(at, { id, code: findNodeCode(at.scope, id), owner: at.tx.publisher })
  return made === undefined ? undefined : [position, made]
}

/** `returns` contains `["Contract…"]`. Unless a delayed transaction is executed, the id has the tx hash. */
function getNewId({ tx }: TxScope, position: number): string {
  const value = tryParseExact(tx.receipt.returns[position] ?? '')
  const id = Array.isArray(value) ? findText(value, 0) : undefined
  return id !== undefined && isContractId(id) ? id : toContractId(tx.hash)
}

/** The metadata of a contract, and the position of its code in the chain. */
type Code = Pick<ContractDoc, 'version' | 'language' | 'abis' | 'code_at'>

/** Code in the chain is that of the time; the node's, used where the chain has none, is today's. */
const findNodeCode = ({ systemCode }: Scope, id: string): Code | undefined => systemCode.get(id)

/** Returns the id if the contract did not exist before. */
function deploy(
  { scope, tx }: TxScope,
  { id, code, owner }: { readonly id: string; readonly code: Code | undefined; readonly owner: string },
): string | undefined {
  const { block, state, statistics, ledger } = scope
  if (!isContractId(id)) return undefined
  const system = isSystemContract(id)
  const isNew = state.get(contracts, id) === undefined
  if (isNew && id !== SYSTEM_CONTRACT) statistics.contract_count += 1
  state.put(contracts, {
    id,
    contract: id,
    publisher: tx.publisher,
    owner,
    system,
    version: code?.version ?? '',
    language: code?.language ?? '',
    abis: code?.abis ?? [],
    height: block.height,
    time: block.time,
    tx_hash: tx.hash,
    ...(code?.code_at && { code_at: code.code_at }),
  })
  if (system) noteVersion(scope, id, code?.version ?? '')
  else ledger.open(id)
  return isNew ? id : undefined
}

/** Updates a contract's code; publisher, owner and time of creation stay. */
function update(scope: Scope, id: string, code: Code | undefined): void {
  const stored: ContractDoc | undefined = scope.state.get(contracts, id)
  if (stored === undefined || code === undefined) return
  const { code_at: _, ...before } = stored
  const { version, language, abis, code_at } = code
  scope.state.put(contracts, { ...before, version, language, abis, ...(code_at && { code_at }) })
  if (before.system) noteVersion(scope, id, version)
}

/** Notes the version of a system contract, by its deployed code. */
function noteVersion({ statistics }: Scope, contract: string, version: string): void {
  const others = statistics.versions.filter(([id]) => id !== contract)
  statistics.versions = [...others, [contract, version] as const].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Adds system.iost, a native contract that exists from genesis without a deployment. */
export function deploySystemContract(at: TxScope): void {
  deploy(at, { id: SYSTEM_CONTRACT, code: findNodeCode(at.scope, SYSTEM_CONTRACT) ?? NATIVE, owner: '' })
}

const abi = (name: string, ...args: readonly string[]) => ({ name, args, amount_limit: [] })

/** Actions of the native contract (go-iost `vm/native/system.go`), for nodes that do not return them. */
const NATIVE: Code = {
  language: 'native',
  version: '1.0.0',
  abis: [
    abi('requireAuth', 'string', 'string'),
    abi('receipt', 'string'),
    abi('setCode', 'string'),
    abi('updateCode', 'string', 'string'),
    abi('initSetCode', 'string', 'string'),
    abi('cancelDelaytx', 'string'),
    abi('hostSettings', 'string'),
    abi('updateNativeCode', 'string', 'string', 'string'),
  ],
}
