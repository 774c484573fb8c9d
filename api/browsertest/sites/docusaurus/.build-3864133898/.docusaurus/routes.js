import React from 'react';
import ComponentCreator from '@docusaurus/ComponentCreator';

export default [
  {
    path: '/search',
    component: ComponentCreator('/search', '822'),
    exact: true
  },
  {
    path: '/',
    component: ComponentCreator('/', '9ac'),
    routes: [
      {
        path: '/',
        component: ComponentCreator('/', 'f59'),
        routes: [
          {
            path: '/',
            component: ComponentCreator('/', 'b9b'),
            routes: [
              {
                path: '/webhooks',
                component: ComponentCreator('/webhooks', 'ea9'),
                exact: true
              },
              {
                path: '/',
                component: ComponentCreator('/', 'c48'),
                exact: true
              }
            ]
          }
        ]
      }
    ]
  },
  {
    path: '*',
    component: ComponentCreator('*'),
  },
];
