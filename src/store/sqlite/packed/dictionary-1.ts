/**
 * Frequent parts of transactions and base transactions: the node's member names in its order, system contracts, and the
 * form of their calls and receipts. Stored texts refer to positions in it, so it must never change, not even by a
 * letter. A new dictionary gets another file and another number in `text.ts`.
 */
const HEAD = `","f":true,"t":"","a":"1.64256721","x":[{"func_name":"{"body":{"hash":"0,"w":"{"c":1024,"w":"","g":"0","t":"producer","a":"3.28513441"}`

/** Complete failed runs, whose message repeats the action. */
const FAILED = [
  '"status_code":"BALANCE_NOT_ENOUGH","message":"","status_code":"OUT_OF_GAS","message":"out of gas","status_code":"TIMEOUT","message":"',
  ',"ram_usage":{},"status_code":"RUNTIME_ERROR","message":"running action Action{Contract: Contract',
  String.raw`,"ram_usage":{},"status_code":"RUNTIME_ERROR","message":"running action Action{Contract: vote_producer.iost, ActionName: vote, Data: [\"`,
  String.raw`,"ram_usage":{},"status_code":"RUNTIME_ERROR","message":"running action Action{Contract: token.iost, ActionName: transfer, Data: [\"iost\",\"`,
  String.raw`\"]}\n error: transaction has no permission","returns":[],"receipts":[]}}`,
  String.raw`\"]}\n error: balance not enough \"]}... error: invalid amount amount too large not exists`,
  `... error: Uncaught exception: Error: Uncaught exception: TypeError: is not a function. (In '`,
] as const

/** Contract code in the form of setCode. */
const CODE = [
  String.raw`"actions":[{"contract":"system.iost","action_name":"updateCode","data":"[\"{\\\"ID\\\":\\\"Contract`,
  String.raw`"actions":[{"contract":"system.iost","action_name":"setCode","data":"[\"{\\\"ID\\\":\\\"\\\",\\\"info\\\":{\\\"lang\\\":\\\"javascript\\\",\\\"version\\\":\\\"1.0.0\\\",\\\"abi\\\":[{\\\"name\\\":\\\"init\\\",\\\"args\\\":[],\\\"amountLimit\\\":[{\\\"token\\\":\\\"*\\\",\\\"val\\\":\\\"unlimited\\\"}]},{\\\"name\\\":\\\"transfer\\\",\\\"args\\\":[\\\"string\\\",\\\"string\\\",\\\"number\\\"],\\\"amountLimit\\\":[]}]},\\\"code\\\":\\\"class `,
  String.raw`{init(){}\\n constructor() { this.  blockchain.callWithAuth('token.iost', 'transfer', [blockchain.contractName(), storage.get(' storage.put(' storage.mapGet(' storage.mapPut(' blockchain.requireAuth( throw new Error(' return JSON.stringify( JSON.parse(tx.publisher)module.exports = `,
] as const

/** Calls and receipts of system contracts: arguments first, then variable parts. */
const CALLS = [
  String.raw`"func_name":"system.iost/receipt","content":""func_name":"vote_producer.iost/stat","content":"{\"currentList\":[\"\"],\"pendingList\":[\"`,
  String.raw`"func_name":"issue.iost/issueIOST","content":""func_name":"token.iost/issue","content":"[\"iost\",\"foundation\",\"iost\",\"bonus.iost\",\"iost\",\"issue.iost\",\"`,
  String.raw`"func_name":"bonus.iost/exchangeIOST","content":"[\"token.iost/destroy","content":"[\"contribute\",\"iost\",\"bonus.iost\",\"`,
  String.raw`"actions":[{"contract":"domain.iost","action_name":"link","data":"[\"token721.iost/issue","content":"[\"token721.iost","action_name":"create"`,
  String.raw`"actions":[{"contract":"exchange.iost","action_name":"transfer","data":"[\"iost\",\"create:"contract":"exchange.iost/transfer","content":"[\"`,
  String.raw`"actions":[{"contract":"auth.iost","action_name":"assignPermission","updateCode","signUp","data":"[\"","func_name":"auth.iost/signUp","content":"[\"`,
  String.raw`"actions":[{"contract":"vote_producer.iost","action_name":"voterWithdraw","data":"[\"","func_name":"vote_producer.iost/voterWithdraw","content":"{\"","content":"[\"iost\",\"vote_producer.iost\",\"`,
  String.raw`"func_name":"vote_producer.iost/candidateWithdraw","content":"[\"vote_producer.iost/topupCandidateBonus","content":"[\"topupVoterBonus","data":"[\"applyRegister\",\"https://","action_name":"candidateWithdraw"`,
  String.raw`"actions":[{"contract":"vote_producer.iost","action_name":"unvote","data":"[\"func_name":"token.iost/transferFreeze","content":"[\"iost\",\"vote.iost\",\"","func_name":"vote_producer.iost/unvote","content":"[\"`,
  String.raw`"actions":[{"contract":"vote_producer.iost","action_name":"vote","data":"[\""receipts":[{"func_name":"token.iost/transfer","content":"[\"iost\",\"\",\"vote.iost\",\"","func_name":"vote_producer.iost/vote","content":"[\"`,
  String.raw`"actions":[{"contract":"ram.iost","action_name":"sell","data":"[\"lend","content":"[\"ram\",\"ram.iost\",\"`,
  String.raw`"actions":[{"contract":"ram.iost","action_name":"buy","data":"[\"","content":"[\"iost\",\"","ram.iost\",\"","content":"[\"iost\",\"ram.iost\",\"deadaddr\",\"token.iost/issue","content":"[\"ram\",\"ram.iost\",\"`,
  String.raw`"actions":[{"contract":"gas.iost","action_name":"unpledge","data":"[\""receipts":[{"func_name":"token.iost/transferFreeze","content":"[\"iost\",\"gas.iost\",\"\",\"\"]"},{"func_name":"gas.iost/unpledge","content":"[\"`,
  String.raw`"actions":[{"contract":"gas.iost","action_name":"pledge","data":"[\"","receipts":[{"func_name":"token.iost/transfer","content":"[\"iost\",\"\",\"gas.iost\",\"\",\"\"]"},{"func_name":"gas.iost/pledge","content":"[\"`,
  String.raw`"actions":[{"contract":"token.iost","action_name":"destroy","data":"[\"create","data":"[\"{\"decimal\":transferFreeze","data":"[\"issue","data":"[\"func_name":"token.iost/create","content":"[\"token.iost/transferFreeze","content":"[\"token.iost/destroy","content":"[\"`,
  '"ram_usage":{"token.iost":"10"},"ram_usage":{"auth.iost":"gas.iost":"ram.iost":"vote.iost":"vote_producer.iost":"-"},"ram_usage":{"Contract',
  '","gas_ratio":1,"gas_limit":1000000,"delay":"0","chain_id":1020,"gas_limit":2000000,"gas_limit":4000000,"actions":[{"contract":"Contract',
  String.raw`"returns":["[\"true\"]"],"returns":["[\"0.\"]"],"returns":["[\"ok\"]"],"returns":["[\"\"]"],"receipts":[{"func_name":"Contract`,
  '"signers":["active"],"publisher":"admin","referred_tx":"","amount_limit":[{"token":"iost","value":"unlimited"}],"amount_limit":[],"signatures":[],"publisher_sigs":[]',
] as const

/** The most frequent transaction, complete. */
const TRANSFER = [
  String.raw`{"hash":"","time":"1","expiration":"1","gas_ratio":1,"gas_limit":100000,"delay":"0","chain_id":1024,"actions":[{"contract":"token.iost","action_name":"transfer","data":"[\"ram\",\"`,
  String.raw`","gas_ratio":1,"gas_limit":300000,"delay":"0","chain_id":1020,"actions":[{"contract":"token.iost","action_name":"transfer","data":"[\"iost\",\"`,
  String.raw`\",\"\"]"}],"signers":[],"publisher":"","referred_tx":"","amount_limit":[{"token":"*","value":"unlimited"}],"tx_receipt":{"tx_hash":"`,
  String.raw`","gas_usage":,"ram_usage":{},"status_code":"SUCCESS","message":"","returns":["[]"],"receipts":[{"func_name":"token.iost/issue","content":"[\"`,
  String.raw`{"func_name":"token.iost/transfer","content":"[\"iost\",\"\",\"\"]"}]}}`,
] as const

export const DICTIONARY_1 = [HEAD, ...FAILED, ...CODE, ...CALLS, ...TRANSFER].join('')
