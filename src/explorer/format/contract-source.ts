import { listIn } from './json.ts'

/** What a contract was deployed with. */
export type Source = { readonly code: string; readonly language: string; readonly version: string }

/** The code in the action that deployed a contract, which has the whole contract as a text of JSON. */
export const sourceIn = (
  actions: readonly { readonly contract: string; readonly action_name: string; readonly data: string }[],
): Source | undefined => {
  // A transaction names one contract, whose id is made of its hash.
  const deploying = actions.find(
    ({ contract, action_name }) => contract === 'system.iost' && action_name === 'setCode',
  )
  const [text] = (deploying && listIn(deploying.data)) ?? []
  if (typeof text !== 'string') return undefined
  try {
    const { code, info } = JSON.parse(text) as Contract
    if (typeof code !== 'string') return undefined
    return { code, language: String(info?.lang ?? ''), version: String(info?.version ?? '') }
  } catch {
    return undefined
  }
}

/** The parts of a contract that are shown; a signer may write anything. */
type Contract = {
  readonly code?: unknown
  readonly info?: { readonly lang?: unknown; readonly version?: unknown }
}
