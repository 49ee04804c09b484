/** @jsxImportSource @kitajs/html */
import type { AskContext } from '#actions/ask.ts'
import { getContractDetail } from '#actions/get-contract.ts'
import { Failure } from '#failure/failure.ts'
import { formatTitle } from '../find/labels.ts'
import { type FormField, field } from '../format/field.ts'
import { describeNodeOrigin } from '../format/state.ts'
import { cut, revealInvisible } from '../format/text.ts'
import { formatStoragePath, isNarrowed, toHref } from '../links.ts'
import type { Html, Page, Props } from '../page.ts'
import { Filters } from '../part/form.tsx'
import { Name } from '../part/name.tsx'
import { Card, Facts, Note } from '../part/section.tsx'
import { ChainText, isRaw, rawText } from '../part/text.tsx'

const STORAGE_FIELDS: readonly FormField[] = [
  field('key', 'text', { en: 'Key', zh: '键' }),
  field('field', 'text', { en: 'Field, of a map', zh: '字段（仅映射）' }),
]

/** The values in a contract's storage by key and field, read from a node. */
export const contractStoragePage: Page = {
  path: '/contract/{id}/storage',
  fields: STORAGE_FIELDS,
  show: async visit => {
    const { say, query, storage } = visit
    const { contract_id: contract } = await visit.ask(getContractDetail, { contract: visit.id })
    const [key, field] = [query.get('key') ?? '', query.get('field') ?? '']
    const place = { contract, key, ...(field === '' ? {} : { field }) }
    const found = storage === undefined || key === '' ? undefined : await catchFailure(read(storage, place))
    const given = found instanceof Failure ? undefined : found
    const name = revealInvisible(contract)
    if (isRaw(visit) && given !== undefined) return rawText(name, given.value, 'plain')
    const kind = say({ en: 'Contract storage', zh: '合约存储' })
    return {
      title: `${kind} ${formatTitle(visit, contract)}`,
      path: formatStoragePath(contract),
      asOf: given && describeNodeOrigin(given.height),
      isMinor: isNarrowed(visit, ['key', 'field']),
      description: say({
        en: `Storage of the contract ${name} on IOST: any value by its key, from a node.`,
        zh: `IOST 合约 ${name} 的存储：按键从全节点读取任意值。`,
      }),
      body: (
        <>
          <h1>
            <small safe>{kind}</small>
            <Name visit={visit} kind="contract" id={contract} isWhole />
          </h1>
          <section class="card">
            <Filters visit={visit} button={say({ en: 'Read', zh: '读取' })} fields={STORAGE_FIELDS} />
            <Outcome visit={visit} found={found} />
          </section>
          {given !== undefined && <Value visit={visit} found={given} />}
          {given !== undefined && given.fields.length !== 0 && <MapFields visit={visit} found={given} />}
        </>
      ),
    }
  },
}

type Place = { readonly contract: string; readonly key: string; readonly field?: string }

type Read = Place & {
  readonly value: string
  readonly height: number
  /** The fields of the map under the key; [] for a request of one field. */
  readonly fields: readonly string[]
}

async function read(storage: NonNullable<AskContext['storage']>, place: Place): Promise<Read> {
  const [{ value, height }, { fields }] = await Promise.all([
    storage.value(place),
    place.field === undefined ? storage.fields(place) : { fields: [] },
  ])
  return { ...place, value, height, fields }
}

/** The answer of a node, or the failure. After a failure the form stays, so that the visitor can retry. */
async function catchFailure(answer: Promise<Read>): Promise<Read | Failure> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'bad_block')) return error
    throw error
  }
}

/** The reason why there is no value; empty if there is one. */
function Outcome({ visit, found }: Props<{ found: Read | Failure | undefined }>): Html {
  const { say, storage } = visit
  if (storage === undefined)
    return (
      <Note
        visit={visit}
        kind="warn"
        text={{
          en: 'This service is not connected to a node, and the storage of contracts is known to nodes alone.',
          zh: '本服务未连接全节点，而合约存储只能从全节点读取。',
        }}
      />
    )
  if (found === undefined)
    return (
      <Note
        visit={visit}
        text={{
          en: 'Values are read from a node, at its last irreversible block. A key without a field also lists the fields of a map.',
          zh: '值从全节点读取，以其最新的不可逆区块为准。只填写键时，若该键为映射，还会列出其字段。',
        }}
      />
    )
  return found instanceof Failure ? (
    <p class="warn" role="alert" safe>
      {say({ en: 'The node did not give the value. Try again later.', zh: '全节点未返回该值，请稍后重试。' })}
    </p>
  ) : (
    ''
  )
}

/** The answer of nodes for a key that does not exist. */
const ABSENT = 'null'
const IS_NOTHING = { en: 'Nodes give null when there is nothing under a key.', zh: '键不存在时，全节点返回 null。' }
const IS_MAP = {
  en: 'The key has no value of its own, but it is a map: choose one of its fields.',
  zh: '该键本身没有值，但它是一个映射，请选择其中的字段。',
}

function Value({ visit, found }: Props<{ found: Read }>): Html {
  const { contract, key, field, value, height, fields } = found
  const query = new URLSearchParams({ key, ...(field === undefined ? {} : { field }), raw: '1' })
  return (
    <Card visit={visit} id="value" title={{ en: 'Value', zh: '值' }}>
      <Facts
        visit={visit}
        facts={[
          ['Key', '键', <ChainText visit={visit} text={key} />],
          field !== undefined && ['Field', '字段', <ChainText visit={visit} text={field} />],
          [
            'Value',
            '值',
            <ChainText visit={visit} text={value} whole={toHref(visit, `${formatStoragePath(contract)}?${query}`)} />,
          ],
          ['As of block', '截至区块', <Name visit={visit} kind="block" id={height} isWhole />],
        ]}
      />
      {value === ABSENT && <Note visit={visit} text={fields.length > 0 ? IS_MAP : IS_NOTHING} />}
    </Card>
  )
}

/** Maximum number of fields that a node lists (go-iost vm/database, addField). */
const MAX = 257
/** Maximum length of a field's name on the page. A longer name has no link. */
const MAX_LETTERS = 128

/** The fields of a map, each with a link to its value. */
function MapFields({ visit, found }: Props<{ found: Read }>): Html {
  const { contract, key, fields } = found
  const hrefOf = (field: string): string =>
    toHref(visit, `${formatStoragePath(contract)}?${new URLSearchParams({ key, field })}`)
  return (
    <Card visit={visit} id="fields" title={{ en: `Fields: ${fields.length}`, zh: `字段：${fields.length}` }}>
      <ul class="names">
        {fields.slice(0, MAX).map(field => (
          <li>
            {field.length > MAX_LETTERS ? (
              <bdi safe>{cut(field, MAX_LETTERS)}</bdi>
            ) : (
              <a href={hrefOf(field)} rel="nofollow">
                <bdi safe>{revealInvisible(field)}</bdi>
              </a>
            )}
          </li>
        ))}
      </ul>
      {fields.length >= MAX && (
        <Note
          visit={visit}
          text={{
            en: `Nodes list the first ${MAX} fields of a map. The others can be read by their names.`,
            zh: `全节点只列出映射的前 ${MAX} 个字段，其余字段可按名称读取。`,
          }}
        />
      )}
    </Card>
  )
}
