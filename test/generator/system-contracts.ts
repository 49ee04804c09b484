/**
 * The node's description of the chain's own contracts: id → language, version, actions with argument types.
 */
const CONTRACTS: Readonly<Record<string, readonly [language: string, version: string, abis: string]>> = {
  'system.iost': [
    'native',
    '1.0.0',
    'setCode(string) updateCode(string,string) initSetCode(string,string) receipt(string)',
  ],
  'token.iost': [
    'native',
    '1.0.6',
    'create(string,string,number,json) issue(string,string,string) transfer(string,string,string,string,string) ' +
      'transferFreeze(string,string,string,string,number,string) destroy(string,string,string)',
  ],
  'token721.iost': [
    'native',
    '1.0.0',
    'create(string,string,number) issue(string,string,string) transfer(string,string,string,string)',
  ],
  'gas.iost': ['native', '1.0.0', 'pledge(string,string,string) unpledge(string,string,string)'],
  'issue.iost': ['javascript', '1.0.0', 'issueIOST()'],
  'auth.iost': ['javascript', '1.0.0', 'signUp(string,string,string)'],
  'domain.iost': ['native', '0.0.0', 'can_update(string)'],
  'bonus.iost': ['javascript', '1.0.2', 'issueContribute(json) exchangeIOST(string,string)'],
  'vote.iost': ['javascript', '1.0.3', 'vote(string,string,string,string) unvote(string,string,string,string)'],
  'vote_producer.iost': ['javascript', '1.0.9', 'vote(string,string,string) unvote(string,string,string) stat()'],
  'base.iost': ['javascript', '1.0.0', 'exec(json)'],
  'exchange.iost': ['javascript', '1.0.0', 'transfer(string,string,string,string)'],
  'ram.iost': [
    'javascript',
    '1.0.0',
    'buy(string,string,number) sell(string,string,number) lend(string,string,number)',
  ],
}

function abiText(spelled: string): string {
  const [name = '', args = ''] = spelled.replace(')', '').split('(')
  const kinds = args === '' ? [] : args.split(',')
  return JSON.stringify({ name, args: kinds, amount_limit: [{ token: '*', value: 'unlimited' }] })
}

/** The answer of getContract for one of the chain's own contracts, undefined for others. */
export function systemContractText(id: string): string | undefined {
  const known = Object.hasOwn(CONTRACTS, id) ? CONTRACTS[id] : undefined
  if (known === undefined) return undefined
  const [language, version, abis] = known
  return (
    `{"id":"${id}", "code":"", "language":"${language}", "version":"${version}", "orig_code":"", ` +
    `"abis":[${abis.split(' ').map(abiText).join(', ')}]}`
  )
}
