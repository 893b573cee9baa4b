/** What workflows are listed by, as `--search-attribute` of Temporal's own tools takes them. */
export const searchAttributes = {
  HoldfastKind: 'Keyword',
  HoldfastName: 'Keyword',
  HoldfastPhase: 'Keyword',
  HoldfastWaitingFor: 'Keyword',
  HoldfastCluster: 'KeywordList',
  HoldfastTarget: 'KeywordList',
} as const;
