// Files that are imported as text (`with { type: 'text' }`) or as paths (`with { type: 'file' }`).

declare module '#explorer/asset/*' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: a text has no other name
  export default text
}

declare module '@resvg/resvg-wasm/index_bg.wasm' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: a place has no other name
  export default path
}

declare module '*.ttf' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: a place has no other name
  export default path
}
