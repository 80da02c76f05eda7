// What the screens above organisations say: of a customer, and of the platform. They load it; the first page does not.
export const aboveTexts = {
  tabs: {
    orgs: "Organisations",
    customers: "Customers",
    changes: "Recent changes",
    access: "Who has access",
    account: "Account",
  },
  platformIntro: "All customers and organisations of this installation.",
  noChanges: "You may not read the log of changes here.",
  waiting: "Waiting for a decision, in all organisations that you may see",
  searchCustomers: "Search customers",
  noCustomers: "No customer is like that.",
};
