import { type TProperties, Type } from '@sinclair/typebox'
import { formatUnits } from '#chain/amount.ts'
import { computeGas, computeGasRate, STORED_GAS_SCALE } from '#chain/gas.ts'
import { Exact } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { listOf } from '#indices/list.ts'
import { pledges } from '#indices/pledge.ts'
import { NO_RESOURCES, resources } from '#indices/resource.ts'
import { defineAction } from './define.ts'
import { readWholeOrder } from './find/listing.ts'
import { listRecords, type NumberedRecord } from './find/numbered.ts'
import { requireNamed, resolveOwner } from './find/owner.ts'
import { findMoment } from './find/point.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { account, owner, paging, sort } from './request/parameter-types.ts'
import { checkPoint, checkRange, point, range } from './request/range.ts'
import {
  ballot,
  heldTokenFields,
  iostAssets,
  readAssets,
  readBallots,
  readTokenRows,
  unclaimedRewards,
} from './shape/holdings.ts'
import {
  byName,
  defineCreatedTime,
  defineRows,
  described,
  exact,
  flag,
  listOfRows,
  numberedLists,
  pointFields,
  pointShown,
  seq,
  shape,
  text,
  txHash,
} from './shape/results.ts'
import { toGas, toIost } from './shape/values.ts'

const item = shape({
  id: text('Public key or account.', '公钥或账户。'),
  is_key_pair: flag('Whether id is a public key.', 'id 是否为公钥。'),
  weight: text('Weight of this key or account.', '权重。'),
  permission: text('Permission of the account named in id.', 'id 所指账户的权限。'),
})
const permission = shape({
  name: text('Name of the permission.', '权限名。'),
  group_names: defineRows(Type.String(), 'Groups that have this permission.', '拥有该权限的组。'),
  items: defineRows(item, 'Keys and accounts that have this permission.', '拥有该权限的公钥与账户。'),
  threshold: text('Required sum of weights.', '所需权重之和。'),
})
const group = shape({
  name: text('Name of the group.', '组名。'),
  items: defineRows(item, 'Keys and accounts of the group.', '组内的公钥与账户。'),
})
const gasInfo = shape({
  current_total: exact('Gas balance at the time of the published block.', '截至该区块时间的 gas 余额。'),
  transferable_gas: exact('Always 0.', '恒为 0。'),
  pledge_gas: exact('The same as current_total.', '与 current_total 相同。'),
  increase_speed: exact('Gas gained per second.', '每秒增加的 gas。'),
  limit: exact('Gas limit of the account.', 'gas 上限。'),
  pledged_info: defineRows(
    shape({
      pledger: text(
        "The account that receives the gas (the field name is the node's).",
        '受益账户，即为其质押 gas 的账户（沿用全节点的字段名）。',
      ),
      amount: exact('Pledged IOST.', '质押的 IOST。'),
    }),
    'Pledges of this account, in the order they were made.',
    '该账户的质押记录，按质押先后排列。',
  ),
})
const ramInfo = shape({
  available: text('Bytes still available.', '可用字节数。'),
  used: text('Bytes in use.', '已用字节数。'),
  total: text('Net bytes gained by buying and selling RAM.', '通过 RAM 买卖净获得的字节数。'),
})

/** An account as the node returns it, without its balance. */
export const getAccountDetail = defineAction({
  module: 'account',
  action: 'get-account-detail',
  title: { en: 'Account detail', zh: '账户详情' },
  summary: {
    en: 'Gas, RAM, permissions, groups and votes of an account at the last published irreversible block; gas is computed for the time of that block. Contracts are not accounts. Votes are sorted by amount, largest first, then by producer.',
    zh: '账户在最新已发布的不可逆区块处的 gas、RAM、权限、组与投票；gas 按该区块的时间计算。合约不是账户。投票按票数从大到小排列，票数相同时按生产者名称排列。',
  },
  params: Type.Object({ account: account() }),
  result: shape({
    name: text('Account name.', '账户名。'),
    gas_info: described(gasInfo, 'Gas.', 'gas 信息。'),
    ram_info: described(ramInfo, 'RAM in bytes, as strings.', 'RAM 信息（字节数，字符串格式）。'),
    permissions: byName(permission, 'Permissions by name.', '以名称为键的权限。'),
    groups: byName(group, 'Groups by name.', '以名称为键的组。'),
    vote_infos: defineRows(ballot, 'Producers the account votes for.', '账户所投的生产者。'),
  }),
  run: async (context, { account: name }) => {
    const { view } = context
    const found = await requireNamed(context, 'account', name)
    const [resource = NO_RESOURCES, ram, pledged, { ballots }] = await Promise.all([
      view.get(resources, name),
      view.get(balances, balanceId('ram', name)),
      readWholeOrder(view, { index: pledges, order: 'ofPledger', group: name }),
      readBallots(view, name),
    ])
    const gas = toGas(computeGas(resource, view.at.time))
    const rate = computeGasRate(resource.gas_pledge)
    return {
      name,
      gas_info: {
        current_total: gas,
        transferable_gas: new Exact('0'),
        pledge_gas: gas,
        increase_speed: new Exact(formatUnits(rate.value, rate.scale)),
        limit: new Exact(formatUnits(resource.gas_limit, STORED_GAS_SCALE)),
        pledged_info: pledged.map(doc => ({ pledger: doc.beneficiary, amount: toIost(doc.amount) })),
      },
      ram_info: {
        available: String(ram?.amount ?? 0n),
        used: String(resource.ram_used),
        total: String(resource.ram_total),
      },
      permissions: new Map(found.permissions.map(entry => [entry.name, entry])),
      groups: new Map(found.groups.map(entry => [entry.name, entry])),
      vote_infos: ballots,
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

export const getAccountAssets = defineAction({
  module: 'account',
  action: 'get-account-assets',
  title: { en: 'Assets of an account', zh: '账户资产' },
  summary: {
    en: 'Everything that belongs to an account, a contract, a public key that owns tokens, or 0: its IOST by state, including rewards for votes that were not withdrawn yet, and every other token with an available or frozen balance above 0, sorted by symbol. Frozen amounts that are due count as available. Rewards are what a withdrawal would pay, exactly, by the arithmetic of the contract; votes that were all taken back pay nothing until there are some again. With at_block or at_time all of it is as it was at that point.',
    zh: '账户、合约、持有代币的公钥或 0 的全部资产：按状态分列的 IOST（包括尚未领取的投票奖励），以及可用余额或冻结余额大于 0 的其他代币，按符号排列。已到期的冻结金额计入可用余额。奖励为立即领取时的实际数额，按合约的算法精确计算；全部撤回的投票在再次投票之前没有可领取的奖励。提供 at_block 或 at_time 时，所有数值均为当时的状态。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: shape({
    name: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
    iost: described(iostAssets, 'IOST by state.', '按状态分列的 IOST。'),
    unclaimed: described(
      unclaimedRewards,
      'More about the rewards that were not withdrawn yet, in IOST.',
      '尚未领取的奖励明细（IOST）。',
    ),
    tokens: defineRows(shape(heldTokenFields), 'Tokens other than iost.', 'iost 以外的代币。'),
    ...pointFields,
  }),
  run: async (context, { account, ...asked }) => {
    const [name, then] = await Promise.all([resolveOwner(context, account), findMoment(context, asked)])
    return { name, ...(await readAssets(context.view, name, then)), ...pointShown(then) }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

const { frozen_list: _, ...usual } = heldTokenFields

const defineTokenListResult = <P extends TProperties>(row: P) =>
  shape({
    ...listOfRows('tokens', shape(row), { en: 'Tokens.', zh: '代币列表。' }).properties,
    ...pointFields,
  })

export const getTokenList = defineAction({
  module: 'account',
  action: 'get-token-list',
  title: { en: 'Tokens of an account', zh: '账户代币列表' },
  summary: {
    en: 'All tokens with an available or frozen balance above 0, sorted by symbol. The list is always complete. With at_block or at_time it is the list of that point. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '可用余额或冻结余额大于 0 的全部代币，按符号排列。始终返回完整列表。提供 at_block 或 at_time 时为当时的列表。也可查询合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: defineTokenListResult(heldTokenFields),
  compatResult: defineTokenListResult(usual),
  list: 'tokens',
  run: async (context, { account, ...asked }) => {
    const [name, then] = await Promise.all([resolveOwner(context, account), findMoment(context, asked)])
    const rows = await readTokenRows(context.view, name, then)
    const shown = context.compat === 'iostabc' ? rows.map(({ frozen_list: _, ...row }) => row) : rows
    return { ...buildWholeList('tokens', shown, then && { heights: [then.height] }), ...pointShown(then) }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

const subaccountFields = {
  seq: seq(),
  name: text('Account name.', '账户名。'),
  created_by: text('Account that created this account.', '创建者账户。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}

export const getSubaccountList = defineList({
  module: 'account',
  action: 'get-subaccount-list',
  title: { en: 'Sub-accounts', zh: '子账户列表' },
  summary: {
    en: 'Accounts created by this account, newest first; sort=asc returns the exact reverse. The creator is the publisher of the sign-up transaction. Ranges are by creation.',
    zh: '由该账户创建的账户，最新的在前；sort=asc 时顺序完全相反。创建者是注册交易的发布者。区间按创建时间计。',
  },
  params: Type.Object({ account: account(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  ...numberedLists('accounts', subaccountFields, { en: 'Accounts of this page.', zh: '账户列表。' }),
  list: 'accounts',
  source: {
    state: [],
    open: async (context, { account: name, ...asked }) => {
      const { compat } = context
      await requireNamed(context, 'account', name)
      const rowOf = ({ seq: number, doc }: NumberedRecord) => ({
        ...(compat === 'iostabc' ? {} : { seq: number }),
        name: doc.to,
        created_by: doc.creator ?? name,
        created_at: toIso(doc.time),
        tx_hash: doc.tx_hash,
      })
      const found = await listRecords(context, listOf.created(name), asked)
      return { ...found, rows: async (_view, docs: readonly NumberedRecord[]) => ({ rows: docs.map(rowOf) }) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'admin' },
})
