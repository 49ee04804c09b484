import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { computeGas, computeGasRate, STORED_GAS_SCALE } from '#chain/gas.ts'
import { Exact } from '#chain/json.ts'
import { accounts } from '#indices/account.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { pledges } from '#indices/pledge.ts'
import { type ResourceDoc, resources } from '#indices/resource.ts'
import { defineAction } from './define.ts'
import { wholeOrder } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { account } from './request/parameter-types.ts'
import { ballot, readBallots } from './shape/holdings.ts'
import { byName, defineRows, described, exact, flag, shape, text } from './shape/results.ts'
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
    const found = await view.get(accounts, name)
    if (found === undefined) throw unknown(context, 'account', name)
    const [resource = NOTHING, ram, pledged, { ballots }] = await Promise.all([
      view.get(resources, name),
      view.get(balances, balanceId('ram', name)),
      wholeOrder(view, { index: pledges, order: 'ofPledger', group: name }),
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
        increase_speed: new Exact(fromUnits(rate.value, rate.scale)),
        limit: new Exact(fromUnits(resource.gas_limit, STORED_GAS_SCALE)),
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

/** An account without pledges or RAM. */
const NOTHING: Omit<ResourceDoc, 'id'> = {
  gas_pledge: 0n,
  gas_limit: 0n,
  gas_stock: 0n,
  gas_updated: 0n,
  ram_used: 0n,
  ram_total: 0n,
}
