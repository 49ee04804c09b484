/** @jsxImportSource @kitajs/html */
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { More } from './more.tsx'
import type { AccountDetail } from './resources.tsx'
import { type Column, Rows } from './rows.tsx'

type PermissionsProps = { readonly visit: Visit; readonly detail: AccountDetail }
type Item = AccountDetail['groups'][string]['items'][number]

/** Maximum number of permissions, of groups, and of items of each, on a page. */
const MOST = 20

/** The permissions of an account. */
export const Permissions = ({ visit, detail }: PermissionsProps): Html => {
  const { say } = visit
  const permissions = Object.values(detail.permissions)
  const groups = Object.values(detail.groups)
  const items: Column<{ readonly items: readonly Item[] }> = [
    'Keys and accounts (weight)',
    '公钥与账户（权重）',
    row => <Items visit={visit} items={row.items} />,
  ]
  const grouped: Column<{ readonly group_names: readonly string[] }> = [
    'Groups',
    '组',
    ({ group_names }) => <bdi safe>{visible(group_names.slice(0, MOST).join(', '))}</bdi>,
  ]
  return (
    <Card visit={visit} id="permissions" title={say({ en: 'Permissions', zh: '权限' })}>
      <Rows
        visit={visit}
        rows={permissions.slice(0, MOST)}
        none={{ en: 'No permissions.', zh: '没有权限。' }}
        columns={[
          ['Permission', '权限', ({ name }) => <bdi safe>{visible(name)}</bdi>],
          ['Threshold', '阈值', ({ threshold }) => <span safe>{visible(threshold)}</span>],
          items,
          ...(permissions.every(({ group_names }) => group_names.length === 0) ? [] : [grouped]),
        ]}
      />
      <More visit={visit} shown={MOST} total={permissions.length} />
      {groups.length !== 0 && (
        <Rows
          visit={visit}
          rows={groups.slice(0, MOST)}
          columns={[['Group', '组', ({ name }) => <bdi safe>{visible(name)}</bdi>], items]}
        />
      )}
      <More visit={visit} shown={MOST} total={groups.length} />
    </Card>
  )
}

const Items = ({ visit, items }: { readonly visit: Visit; readonly items: readonly Item[] }): Html => (
  <>
    {items.slice(0, MOST).map(({ id, is_key_pair, permission, weight }) => (
      <div>
        <bdi class="chain" safe>
          {visible(is_key_pair ? id : `${id}@${permission}`)}
        </bdi>{' '}
        <small safe>{`(${visible(weight)})`}</small>
      </div>
    ))}
    <More visit={visit} shown={MOST} total={items.length} />
  </>
)
