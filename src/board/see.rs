//! See position.rs for the contract.
