/** The call whose answers page through a list of records: `account-tx` is short for `get-account-tx`. */
export type ListCall = {
  readonly module: string
  readonly action: string
  readonly params: Readonly<Record<string, string>>
}

/**
 * The call for a list's key. undefined for sub-accounts (`created/…`) and `contracts`, which are not lists of records.
 */
export function listCall(key: string): ListCall | undefined {
  const [kind, name = '', part = '', last = ''] = key.split('/')
  switch (kind) {
    case 'account':
      return { module: 'account', action: 'account-tx', params: { account: name } }
    case 'moved':
      return { module: 'account', action: 'account-tx', params: { account: name, token: part } }
    case 'in': {
      const token = part === '' ? {} : { token: part }
      return { module: 'account', action: 'account-tx', params: { account: name, direction: 'in', ...token } }
    }
    case 'called':
      return {
        module: 'account',
        action: 'account-tx',
        params: { account: name, func_name: `${part}/${last}` },
      }
    case 'failed':
      return { module: 'account', action: 'account-tx', params: { account: name, failed: '1' } }
    case 'token':
      return { module: 'token', action: 'token-tx', params: { token: name } }
    case 'contract':
      return { module: 'contract', action: 'contract-tx', params: { contract: name } }
    case 'action':
      return { module: 'contract', action: 'contract-tx', params: { contract: name, action_name: part } }
    default:
      return undefined
  }
}
