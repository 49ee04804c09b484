import { describe, expect, test } from 'bun:test'
import { accounts, type PermissionItem } from '#indices/account.ts'
import { contracts } from '#indices/contract.ts'
import { oracle, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import { sortedByKey } from '#test/support/sorted-by-key.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const chain = await derivedRecording()
const truth = await oracle()

const fields = (value: Tree | undefined): ReadonlyMap<string, Tree> => value as ReadonlyMap<string, Tree>
const list = (value: Tree | undefined): readonly Tree[] => value as readonly Tree[]

describe('deriveBlock: accounts and contracts of the recording against its node', () => {
  test('deriveBlock: accounts, creators, permissions and groups match the node', () => {
    const items = (value: Tree | undefined): readonly PermissionItem[] =>
      list(value).map(item => ({
        id: String(fields(item).get('id')),
        is_key_pair: fields(item).get('is_key_pair') === true,
        weight: String(fields(item).get('weight')),
        permission: String(fields(item).get('permission') ?? ''),
      }))
    const byName = (value: Tree | undefined) =>
      [...fields(value).values()].map(fields).sort((a, b) => (String(a.get('name')) < String(b.get('name')) ? -1 : 1))
    const expected = [...truth.accounts].map(
      ([name, account]) =>
        [
          name,
          {
            creator: account.get('creator'),
            permissions: byName(account.get('permissions')).map(one => ({
              name: one.get('name'),
              group_names: one.get('groups'),
              items: items(one.get('items')),
              threshold: String(one.get('threshold')),
            })),
            groups: byName(account.get('groups')).map(one => ({
              name: one.get('name'),
              items: items(one.get('items')),
            })),
          },
        ] as const,
    )
    const derived = chain.state
      .all(accounts)
      .map(({ name, creator, permissions, groups }) => [name, { creator, permissions, groups }] as const)
    expect(derived.length).toBe(279)
    expect(sortedByKey(derived)).toEqual(sortedByKey(expected))
  })

  test('deriveBlock: contracts and their owners match the node', () => {
    const derived = chain.state
      .all(contracts)
      .filter(({ contract }) => contract !== 'system.iost')
      .map(({ contract, owner }) => [contract, owner] as const)
    expect(sortedByKey(derived)).toEqual(sortedByKey(truth.contracts))
    expect(chain.state.get(contracts, 'system.iost')?.abis.map(({ name }) => name)).toContain('setCode')
  })

  test('deriveBlock: language, version and ABI of every contract match the node', async () => {
    const answers = await rpcAnswers()
    for (const { contract, language, version, abis } of chain.state.all(contracts)) {
      if (contract === 'system.iost') continue
      const answer = JSON.parse(answers.get(`GET /getContract/${contract}/true`) ?? 'null')
      expect({ contract, language, version, abis: abis as unknown }).toEqual({
        contract,
        language: answer.language,
        version: answer.version,
        abis: answer.abis,
      })
    }
  })
})
